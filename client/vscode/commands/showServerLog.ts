/** `laneway.showServerLog`: the server's own log, also when no server runs. Returns its path. */
import fs from 'node:fs';
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import { statePaths } from '../../../shared/paths.ts';
import type { Command } from '../context.ts';
import { resolveQueue } from './target.ts';

export const showServerLog: Command = {
  id: 'laneway.showServerLog',
  doing: "show the server's log",
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const { serverLog } = statePaths(queue.root, process.env);
    if (!fs.existsSync(serverLog)) {
      throw new LanewayError('INVALID_INPUT', 'no server has run for this folder yet', `It would be at ${serverLog}.`);
    }
    await vscode.window.showTextDocument(vscode.Uri.file(serverLog), { preview: true });
    return serverLog;
  },
};

/** `laneway.showExtensionLog`: what the extension itself logged. */
export const showExtensionLog: Command = {
  id: 'laneway.showExtensionLog',
  doing: 'show the log',
  run(laneway) {
    laneway.log.show(true);
  },
};
