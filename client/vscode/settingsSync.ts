/**
 * Writes the settings that belong to the queue into its database when they change: the last
 * writer wins and everybody sees the same. What was written last is remembered, so that
 * opening a second window, or reloading, does not undo what the CLI changed since.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../shared/errors.ts';
import { LanesSet, SettingsSet } from '../../shared/protocol.ts';
import { laneSettings, queueSettings, type SettingName, settingNames, type Settings } from './config.ts';
import type { Laneway, Queue } from './context.ts';
import { tell } from './messages/tell.ts';

const WRITTEN = 'laneway.written:';

/** Reads what the user set; a default counts as not set. */
export function settingsOf(folder?: vscode.WorkspaceFolder): Settings {
  return (name: SettingName) => {
    const found = vscode.workspace.getConfiguration('laneway', folder?.uri).inspect(name);
    return found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
  };
}

/** Keep the queues' rows as the settings have them. */
export function activateSettingsSync(laneway: Laneway): void {
  const { subscriptions, extension, log } = laneway;
  const bound: vscode.Disposable[] = [];
  const write = async (queue: Queue): Promise<void> => {
    const settings = settingsOf(queue.folder);
    const wanted = queueSettings(settings);
    const { lanes, problems } = laneSettings(settings);
    const text = JSON.stringify([wanted, [...lanes]]);
    const key = `${WRITTEN}${queue.root}`;
    const before = extension.workspaceState.get<string>(key, JSON.stringify([{}, []]));
    if (text === before) return;
    if (problems.length > 0) {
      tell('warning', `Laneway ignores a part of its settings: ${problems.join('; ')}.`, [
        { title: 'Open Settings', command: 'workbench.action.openSettings', arguments: ['laneway.lanes'] },
      ]);
    }
    if (Object.keys(wanted).length > 0) await queue.request(SettingsSet, { settings: wanted });
    for (const [name, lane] of lanes) {
      if (Object.keys(lane).length > 0) await queue.request(LanesSet, { name, settings: lane });
    }
    await extension.workspaceState.update(key, text);
    log.info(`${queue.name}: settings written`);
  };
  const writeAll = (): void => {
    // A queue that is off is told when it connects.
    for (const queue of laneway.queues().filter(({ state }) => state === 'ready')) {
      void laneway.attempt('apply the settings', () => write(queue));
    }
  };
  const bind = (): void => {
    for (const one of bound.splice(0)) one.dispose();
    for (const queue of laneway.queues()) {
      bound.push(
        queue.onDidConnect(() => {
          write(queue).catch((error: unknown) => log.warn(`settings: ${toErrorData(error).message}`));
        }),
      );
    }
    writeAll();
  };
  subscriptions.push(
    laneway.onDidChangeQueues(bind),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (settingNames.some((name) => change.affectsConfiguration(`laneway.${name}`))) writeAll();
    }),
    new vscode.Disposable(() => {
      for (const one of bound.splice(0)) one.dispose();
    }),
  );
  bind();
}
