/**
 * Writes the settings that belong to the queue into its database when they change: the last
 * writer wins and everybody sees the same. What was written last is remembered, so that neither
 * opening a second window, nor a reload, nor another setting's change undoes what the CLI changed since.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../shared/errors.ts';
import type { LaneSettings } from '../../shared/job.ts';
import { LanesSet, SettingsSet } from '../../shared/protocol.ts';
import {
  changedSince,
  laneSettings,
  queueSettings,
  type SettingName,
  settingNames,
  type Settings,
  type Written,
} from './config.ts';
import type { Laneway, Queue } from './context.ts';
import { tell } from './messages/tell.ts';

/** Milliseconds: a settings file that another program saves may be read while it is half written, and as empty. */
const SETTLING_MS = 300;
const WRITTEN = 'laneway.written:';
/** What was written last, as it is remembered, and the problems that were told then. */
type Stored = [queue: Written['queue'], lanes: [string, LaneSettings][], problems: string[]];

/** Reads what the user set; a default counts as not set. */
export function settingsOf(folder?: vscode.WorkspaceFolder): Settings {
  return (name: SettingName) => {
    const found = vscode.workspace.getConfiguration('laneway', folder?.uri).inspect(name);
    return found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
  };
}

/** What the settings are when nobody sets them. */
function defaultsOf(folder: vscode.WorkspaceFolder): Settings {
  return (name: SettingName) => vscode.workspace.getConfiguration('laneway', folder.uri).inspect(name)?.defaultValue;
}

/** Keep the queues' rows as the settings have them. */
export function activateSettingsSync(laneway: Laneway): void {
  const { subscriptions, extension, log } = laneway;
  const bound: vscode.Disposable[] = [];
  let settling: NodeJS.Timeout | undefined;
  const write = async (queue: Queue): Promise<void> => {
    const settings = settingsOf(queue.folder);
    const { lanes, problems } = laneSettings(settings);
    const key = `${WRITTEN}${queue.root}`;
    const stored = extension.workspaceState.get<string>(key, '[{},[],[]]');
    const [queueBefore, lanesBefore, toldBefore] = JSON.parse(stored) as Stored;
    const before: Written = { queue: queueBefore, lanes: new Map(lanesBefore) };
    // Lanes are taken whole or not at all: half of what somebody wrote is not what they meant.
    const now: Written = { queue: queueSettings(settings), lanes: problems.length > 0 ? before.lanes : lanes };
    const next = JSON.stringify([now.queue, [...now.lanes], problems] satisfies Stored);
    if (next === stored) return;
    if (problems.length > 0 && JSON.stringify(problems) !== JSON.stringify(toldBefore)) {
      tell('warning', `Laneway wrote nothing of the setting laneway.lanes: ${problems.join('; ')}.`, [
        { title: 'Open Settings', command: 'workbench.action.openSettings', arguments: ['laneway.lanes'] },
      ]);
    }
    const changed = changedSince(before, now, queueSettings(defaultsOf(queue.folder)));
    if (Object.keys(changed.queue).length > 0) await queue.request(SettingsSet, { settings: changed.queue });
    for (const [name, lane] of changed.lanes) await queue.request(LanesSet, { name, settings: lane });
    await extension.workspaceState.update(key, next);
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
      if (!settingNames.some((name) => change.affectsConfiguration(`laneway.${name}`))) return;
      clearTimeout(settling);
      settling = setTimeout(writeAll, SETTLING_MS);
    }),
    new vscode.Disposable(() => {
      clearTimeout(settling);
      for (const one of bound.splice(0)) one.dispose();
    }),
  );
  bind();
}
