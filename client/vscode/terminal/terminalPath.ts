/**
 * `lane` in VS Code's terminals: a small program in the extension's storage that runs the CLI
 * on the editor's runtime, put on the PATH of new terminals while the setting says so. It is
 * applied again after the shell's start-up files, which may set PATH anew (`zsh -l`).
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import type { Laneway } from '../context.ts';
import { bundles, thisRuntime } from '../runtime.ts';
import { shim } from './shim.ts';

/** The folder with `lane` in it, written anew when this version's differs. */
export async function ensureShim(extension: vscode.ExtensionContext): Promise<string> {
  const { name, text, mode } = shim(thisRuntime(), bundles(extension.extensionPath).cli, process.platform);
  const folder = path.join(extension.globalStorageUri.fsPath, 'bin');
  const file = path.join(folder, name);
  const present = await fs.readFile(file, 'utf8').catch(() => null);
  if (present === text) return folder;
  await fs.mkdir(folder, { recursive: true });
  // Replaced whole: another window's terminal may be reading it.
  const fresh = `${file}.${process.pid}`;
  await fs.writeFile(fresh, text, { mode });
  await fs.rename(fresh, file);
  return folder;
}

/** Keep the terminals' PATH as the setting and the folders have it. */
export function activateTerminalPath(laneway: Laneway): void {
  const { extension, subscriptions, log } = laneway;
  const collection = extension.environmentVariableCollection;
  const apply = async (): Promise<void> => {
    // After activation: nothing needs a terminal's PATH sooner.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    collection.clear();
    for (const queue of laneway.queues()) collection.getScoped({ workspaceFolder: queue.folder }).clear();
    if (laneway.settings('cliOnTerminalPath') === false || !vscode.workspace.isTrusted) return;
    const folder = await ensureShim(extension);
    collection.description = 'Puts `lane`, the command line of Laneway, on the PATH';
    const options = { applyAtProcessCreation: true, applyAtShellIntegration: true };
    collection.prepend('PATH', `${folder}${path.delimiter}`, options);
    for (const queue of laneway.queues()) {
      collection.getScoped({ workspaceFolder: queue.folder }).replace('LANEWAY_WORKSPACE', queue.root);
    }
  };
  const tryApply = (): void => {
    apply().catch((error: unknown) => log.warn(`lane on the PATH: ${toErrorData(error).message}`));
  };
  subscriptions.push(
    laneway.onDidChangeQueues(tryApply),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('laneway.cliOnTerminalPath')) tryApply();
    }),
  );
  tryApply();
}
