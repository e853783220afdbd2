/**
 * `laneway.addSelection`: add what is selected in the editor or the terminal. One line goes
 * through the first question, to be looked at; several lines are one shell script.
 */
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import { shellArgv } from '../../../shared/shell.ts';
import type { Command } from '../context.ts';
import { askAndAdd } from './addJob.ts';

export const addSelection: Command = {
  id: 'laneway.addSelection',
  doing: 'add the selection',
  async run(laneway, argument) {
    const text = (typeof argument === 'string' ? argument : await selection(argument)).trim();
    if (text === '') {
      throw new LanewayError('INVALID_INPUT', 'nothing is selected', 'Select a command in an editor or a terminal.');
    }
    const place = vscode.window.activeTextEditor?.document.uri;
    const queue = place && laneway.queueFor(place);
    if (!text.includes('\n')) return await askAndAdd(laneway, { queue }, { form: {}, typed: text });
    const argv = shellArgv(text, process.platform, process.env['ComSpec']);
    return await askAndAdd(laneway, { queue }, { form: { argv }, settled: true });
  },
};

/** The terminal's menu passes its terminal; the editor's passes a URI, and the palette nothing. */
async function selection(from: unknown): Promise<string> {
  const terminal = from !== undefined && from !== null && !(from instanceof vscode.Uri);
  const editor = terminal ? undefined : vscode.window.activeTextEditor;
  const selected = editor ? editor.document.getText(editor.selection) : '';
  if (selected.trim() !== '' || !vscode.window.activeTerminal) return selected;
  // The terminal's selection is reachable only through the clipboard, which is put back.
  const before = await vscode.env.clipboard.readText();
  await vscode.env.clipboard.writeText('');
  await vscode.commands.executeCommand('workbench.action.terminal.copySelection');
  const copied = await vscode.env.clipboard.readText();
  await vscode.env.clipboard.writeText(before);
  return copied;
}
