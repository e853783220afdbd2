/** `laneway.openCwd`: a terminal where the job runs. Returns the folder. */
import fs from 'node:fs';
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import type { Command } from '../context.ts';
import { resolveJob } from './target.ts';

export const openCwd: Command = {
  id: 'laneway.openCwd',
  doing: "open the job's folder",
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, { title: 'Open the folder of which job?' });
    if (!target) return undefined;
    const { cwd, id } = target.job;
    if (!fs.existsSync(cwd)) throw new LanewayError('NOT_FOUND', `${cwd} does not exist any more`);
    vscode.window.createTerminal({ name: `#${id}`, cwd }).show();
    return cwd;
  },
};
