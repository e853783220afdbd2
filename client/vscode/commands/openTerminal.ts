/** `laneway.openTerminal`: a terminal in the folder with `lane` on its PATH, whatever the setting says. */
import path from 'node:path';
import * as vscode from 'vscode';
import type { Command } from '../context.ts';
import { ensureShim } from '../terminal/terminalPath.ts';
import { resolveQueue } from './target.ts';

export const openTerminal: Command = {
  id: 'laneway.openTerminal',
  doing: 'open a terminal',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const folder = await ensureShim(laneway.extension);
    const PATH = `${folder}${path.delimiter}${process.env['PATH'] ?? ''}`;
    const env = { LANEWAY_WORKSPACE: queue.root, PATH };
    const terminal = vscode.window.createTerminal({ name: 'Laneway', cwd: queue.root, env });
    terminal.show();
    return terminal;
  },
};
