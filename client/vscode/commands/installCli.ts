/**
 * `laneway.installCli`: `lane` for shells that set PATH anew after the editor has, and for
 * terminals outside it. Returns the file and whether the shell finds it. Offered once, when a
 * terminal here said that it knows no `lane`.
 */
import os from 'node:os';
import * as vscode from 'vscode';
import type { Command, Laneway } from '../context.ts';
import { installCli as install, type Installed, type Shell } from '../terminal/installCli.ts';
import { tell } from '../messages/tell.ts';
import { callerEnv } from '../runtime.ts';
import { ensureShim } from '../terminal/terminalPath.ts';
import { missedLane, withoutFolder } from '../terminal/missedLane.ts';

/** Remembered for the person, not for a window: offered, or done. */
const OFFERED = 'laneway.cliOffered';
const INSTALLED = 'laneway.cliInstalled';

export const installCli: Command = {
  id: 'laneway.installCli',
  doing: 'install lane',
  /** Programs may pass `{home, shell}`. */
  async run({ extension }, argument) {
    const folder = await ensureShim(extension);
    if (process.platform === 'win32') {
      offerCopy(`Add this folder to your PATH, and every terminal finds lane: ${folder}`, 'Copy Folder', folder);
      return { file: `${folder}\\lane.cmd`, found: null, other: null, add: null } satisfies Installed;
    }
    const { home, shell } = (argument ?? {}) as { home?: unknown; shell?: unknown };
    const env = callerEnv(process.env);
    const asked: Shell = {
      program: typeof shell === 'string' ? shell : vscode.env.shell || '/bin/sh',
      home: typeof home === 'string' ? home : os.homedir(),
      env: { ...env, PATH: withoutFolder(env['PATH'] ?? '', folder) },
      platform: process.platform,
    };
    const options = { location: vscode.ProgressLocation.Window, title: 'Installing lane' };
    const installed = await vscode.window.withProgress(options, () => install(asked, `${folder}/lane`));
    await extension.globalState.update(INSTALLED, true);
    say(installed);
    return installed;
  },
};

/** Watch for terminals that know no `lane`; keep what was installed going after an update. */
export function activateCliOffer({ extension, subscriptions, log }: Laneway): void {
  const { globalState } = extension;
  if (globalState.get(INSTALLED) === true) {
    ensureShim(extension).catch((error: unknown) => log.warn(`lane: ${String(error)}`));
  }
  subscriptions.push(
    vscode.window.onDidEndTerminalShellExecution(({ execution, exitCode }) => {
      if (!missedLane(execution.commandLine.value, exitCode) || globalState.get(OFFERED) === true) return;
      void globalState.update(OFFERED, true);
      tell('information', 'The shell in this terminal sets PATH anew, so it does not find lane.', [
        { title: 'Install lane', command: 'laneway.installCli' },
        { title: 'Open a Terminal with lane', command: 'laneway.openTerminal' },
      ]);
    }),
  );
}

function say({ file, found, other, add }: Installed): void {
  if (found === true) tell('information', `Installed ${file}. New terminals find lane.`, []);
  else if (other !== null) tell('warning', `Installed ${file}, but the shell finds another lane first: ${other}.`, []);
  else if (add === null) tell('information', `Installed ${file}.`, []);
  else {
    const text = `Installed ${file}. The shell does not look there yet: add this line to ${add.file}: ${add.line}`;
    offerCopy(text, 'Copy Line', add.line);
  }
}

/** Not awaited, as no message is. */
function offerCopy(message: string, button: string, text: string): void {
  void vscode.window.showInformationMessage(message, button).then(async (chosen) => {
    if (chosen === button) await vscode.env.clipboard.writeText(text);
  });
}
