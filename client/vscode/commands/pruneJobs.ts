/**
 * `laneway.pruneJobs`: delete ended jobs and their logs, after telling how many. Called with
 * `{olderThanMs?, states?, dryRun?}` it does so without asking. Returns `{deleted, bytesFreed}`.
 */
import * as vscode from 'vscode';
import { sayBytes, sayCount } from '../../../shared/format.ts';
import type { StateFilter } from '../../../shared/job.ts';
import { Prune } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { resolveQueue } from './target.ts';

const DAY = 86_400_000;
const AGES: { label: string; olderThanMs: number | null; elsewhere?: string }[] = [
  { label: 'Ended more than 30 days ago', olderThanMs: 30 * DAY },
  { label: 'Ended more than 7 days ago', olderThanMs: 7 * DAY },
  { label: 'Ended more than 1 day ago', olderThanMs: DAY },
  { label: 'All that ended', olderThanMs: null },
  { label: 'Whole queues of folders that are gone…', olderThanMs: null, elsewhere: 'laneway.removeQueues' },
];
const STATES = [
  { label: 'Done and canceled', states: ['done', 'canceled'] as StateFilter[] },
  { label: 'Done, canceled and dead', states: ['done', 'canceled', 'dead'] as StateFilter[] },
];

interface Options {
  olderThanMs?: number | null;
  states?: StateFilter[] | null;
  dryRun?: boolean;
}

export const pruneJobs: Command = {
  id: 'laneway.pruneJobs',
  doing: 'prune jobs',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const options = argument as Options | undefined;
    if (options && ('olderThanMs' in options || 'states' in options || 'dryRun' in options)) {
      const { olderThanMs = null, states = null, dryRun = false } = options;
      return await queue.request(Prune, { olderThanMs, states, dryRun });
    }
    const age = await vscode.window.showQuickPick(AGES, { title: 'Prune which jobs?' });
    if (age?.elsewhere !== undefined) {
      await vscode.commands.executeCommand(age.elsewhere);
      return undefined;
    }
    const which = age && (await vscode.window.showQuickPick(STATES, { title: age.label }));
    if (!which) return undefined;
    const params = { olderThanMs: age.olderThanMs, states: which.states };
    const found = await queue.request(Prune, { ...params, dryRun: true });
    if (found.deleted === 0) {
      void vscode.window.showInformationMessage('Nothing to prune.');
      return found;
    }
    const what = `Delete ${sayCount(found.deleted, 'job')} and ${sayBytes(found.bytesFreed)} of logs?`;
    const yes = await vscode.window.showWarningMessage(
      what,
      { modal: true, detail: 'This cannot be undone.' },
      'Delete',
    );
    if (yes !== 'Delete') return undefined;
    return await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title: 'Pruning jobs' }, () =>
      queue.request(Prune, { ...params, dryRun: false }),
    );
  },
};
