/** `laneway.copyCommand`: the job's command line to the clipboard. Returns it. */
import * as vscode from 'vscode';
import type { Command } from '../context.ts';
import { commandText } from '../views/title.ts';
import { resolveJob } from './target.ts';

export const copyCommand: Command = {
  id: 'laneway.copyCommand',
  doing: 'copy the command',
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, { title: 'Copy the command of which job?' });
    if (!target) return undefined;
    const text = commandText(target.job.argv);
    await vscode.env.clipboard.writeText(text);
    return text;
  },
};

/** `laneway.copyId`: the job's number to the clipboard. Returns it. */
export const copyId: Command = {
  id: 'laneway.copyId',
  doing: 'copy the id',
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, { title: 'Copy the id of which job?' });
    if (!target) return undefined;
    await vscode.env.clipboard.writeText(String(target.job.id));
    return target.job.id;
  },
};
