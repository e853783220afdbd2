/** `laneway.showStatus`: the queue at a glance. Returns the status; choosing a line goes on from there. */
import * as vscode from 'vscode';
import { sayBytes, sayCount, sayDuration } from '../../../shared/format.ts';
import type { Status } from '../../../shared/job.ts';
import { StatusRequest } from '../../../shared/protocol.ts';
import type { Command, Laneway, Queue } from '../context.ts';
import { resolveQueue } from './target.ts';

interface Line extends vscode.QuickPickItem {
  command?: string;
  argument?: unknown;
}

export const showStatus: Command = {
  id: 'laneway.showStatus',
  doing: 'read the status',
  async run(laneway: Laneway, argument: unknown) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const status = await queue.request(StatusRequest, null);
    // Not awaited: who asked for the status has it, whether the list stays open or not.
    void laneway.attempt('show the status', () => show(queue, status));
    return status;
  },
};

type Sized = Status & { logBytes: number };

async function show(queue: Queue, status: Sized): Promise<void> {
  const picked = await vscode.window.showQuickPick(lines(queue, status), { title: `Laneway: ${queue.name}` });
  if (picked?.command) await vscode.commands.executeCommand(picked.command, picked.argument);
}

function lines(queue: Queue, status: Sized): Line[] {
  const { counts, scheduled, retrying, lanes, workers, server, logBytes } = status;
  const ended = `${counts.done} done, ${counts.dead} dead, ${counts.canceled} canceled`;
  const waits = `${counts.queued - scheduled} queued, ${scheduled} scheduled (${retrying} retrying), ${counts.blocked} blocked`;
  return [
    { label: `$(sync) ${sayCount(counts.running, 'job')} running`, description: waits, command: 'laneway.findJob' },
    { label: `$(history) ${ended}`, command: 'laneway.findJob' },
    {
      label: `$(output) ${sayBytes(logBytes)} of logs`,
      description: 'prune…',
      command: 'laneway.pruneJobs',
      argument: { queue },
    },
    { label: 'lanes', kind: vscode.QuickPickItemKind.Separator },
    ...lanes.map((lane) => ({
      label: `$(${lane.paused ? 'debug-pause' : 'list-ordered'}) ${lane.name}`,
      description: `${lane.running}/${lane.slots} running, ${lane.queued + lane.blocked} waiting${lane.paused ? ', paused' : ''}`,
      command: 'laneway.configureLane',
      argument: { queue, lane: lane.name },
    })),
    { label: 'workers', kind: vscode.QuickPickItemKind.Separator },
    ...workers.map((worker) => ({
      label: `$(vm-running) ${worker.kind} (process ${worker.pid})`,
      description: `${worker.running}/${worker.concurrency} running`,
    })),
    {
      label: `$(server-process) server ${server.version ?? ''} (process ${server.pid ?? '?'})`,
      description:
        server.uptimeMs === null
          ? ''
          : `up ${sayDuration(server.uptimeMs)}, ${sayCount(server.clients ?? 0, 'client')}`,
      command: 'laneway.showServerLog',
      argument: { queue },
    },
  ];
}
