/**
 * What a command means: a job, a lane, a queue. Every job command takes a tree node, a
 * `{queue, job}`, a job object, a job id, or nothing: then it asks, offering only what fits.
 */
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import { LANE_NAME } from '../../../shared/limits.ts';
import type { Job } from '../../../shared/job.ts';
import { Lanes, List, Show } from '../../../shared/protocol.ts';
import type { JobArgument, JobHandle, Laneway, Queue } from '../context.ts';
import { Guided } from '../messages/failure.ts';
import { folderOf, idOf, laneOf, queueOf } from './arguments.ts';
import { type JobQuestion, pickJob, pickJobs } from './jobPicker.ts';

/** The one job that is meant; undefined when the person backed out. */
export async function resolveJob(
  laneway: Laneway,
  argument: JobArgument,
  question: JobQuestion,
): Promise<JobHandle | undefined> {
  const named = await namedJob(laneway, argument);
  if (named) return named;
  const queue = await resolveQueue(laneway, argument);
  return queue && (await pickJob(queue, question));
}

/** Jobs of one queue. */
export interface JobsTarget {
  queue: Queue;
  jobs: Job[];
}

/**
 * The jobs that are meant: the selected nodes when a context menu passes several, else one or a
 * list of ids, else what is picked. One entry per queue: a selection may span folders. Undefined
 * when the person backed out.
 */
export async function resolveJobs(
  laneway: Laneway,
  argument: JobArgument,
  selected: unknown,
  question: JobQuestion,
): Promise<JobsTarget[] | undefined> {
  const several = Array.isArray(selected) && selected.length > 0 ? selected : Array.isArray(argument) ? argument : null;
  const targets: JobsTarget[] = [];
  for (const one of several ?? [argument]) {
    const handle = await namedJob(laneway, one);
    if (!handle) continue;
    const target = targets.find(({ queue }) => queue === handle.queue);
    if (!target) targets.push({ queue: handle.queue, jobs: [handle.job] });
    // A job and its attempts may be selected together.
    else if (target.jobs.every(({ id }) => id !== handle.job.id)) target.jobs.push(handle.job);
  }
  if (targets.length > 0) return targets;
  const queue = await resolveQueue(laneway, argument);
  const jobs = queue && (await pickJobs(queue, question));
  return queue && jobs && [{ queue, jobs }];
}

/**
 * What a command does to each queue's jobs, in one list.
 * @throws whatever the first queue that fails does
 */
export async function overQueues<R>(
  targets: readonly JobsTarget[],
  work: (target: JobsTarget) => Promise<R[]>,
): Promise<R[]> {
  const results: R[] = [];
  for (const target of targets) results.push(...(await work(target)));
  return results;
}

async function namedJob(laneway: Laneway, argument: JobArgument): Promise<JobHandle | undefined> {
  const id = idOf(argument);
  if (id === null) return undefined;
  const queue = queueOf(argument) ?? (await queueWithJob(laneway, id, folderOf(argument)));
  // What a node or a caller holds may be old: the state decides what a command does.
  const job = await readJob(queue, id);
  if (!job) throw new LanewayError('NOT_FOUND', `there is no job ${id}`, 'It may have been pruned.');
  return { queue, job };
}

async function readJob(queue: Queue, id: number | string): Promise<Job | undefined> {
  if (typeof id === 'string') return (await queue.request(Show, { job: id })).job;
  return (await queue.request(List, { ids: [id], limit: 1 })).jobs[0];
}

/** With several folders an id alone may mean several jobs: the folders that have it are offered. */
async function queueWithJob(laneway: Laneway, id: number | string, folder: string | null): Promise<Queue> {
  const named = folder === null ? undefined : laneway.queueFor(folder);
  if (named) return named;
  const queues = needQueues(laneway);
  if (queues.length === 1) return queues[0]!;
  const having: Queue[] = [];
  for (const queue of queues.filter(({ state }) => state === 'ready')) {
    if (typeof id === 'number' && (await readJob(queue, id))) having.push(queue);
  }
  if (having.length === 1) return having[0]!;
  const chosen = await pickQueue(having.length > 0 ? having : queues);
  if (!chosen) throw new vscode.CancellationError();
  return chosen;
}

/** The queue that is meant: the argument's, the only one, or what is picked. */
export async function resolveQueue(laneway: Laneway, argument?: unknown): Promise<Queue | undefined> {
  const named = queueOf(argument);
  if (named) return named;
  const folder = folderOf(argument);
  const holding = folder === null ? undefined : laneway.queueFor(folder);
  if (holding) return holding;
  const queues = needQueues(laneway);
  return queues.length === 1 ? queues[0] : await pickQueue(queues);
}

/** The lane that is meant: a node's, a name, or what is picked. */
export async function resolveLane(
  laneway: Laneway,
  argument: unknown,
  title: string,
  fits: (lane: { paused: boolean }) => boolean = () => true,
): Promise<{ queue: Queue; lane: string } | undefined> {
  const queue = await resolveQueue(laneway, argument);
  if (!queue) return undefined;
  const named = laneOf(argument);
  if (named !== null) {
    if (LANE_NAME.test(named)) return { queue, lane: named };
    throw new LanewayError('INVALID_INPUT', `"${named}" is no lane name`, null);
  }
  const { lanes } = await queue.request(Lanes, null);
  const items = lanes.filter(fits).map((lane) => ({
    label: lane.name,
    description: lane.paused ? 'paused' : `${lane.running}/${lane.slots} running`,
  }));
  if (items.length === 0) throw new LanewayError('NOT_FOUND', 'no lane fits', 'Add a job to make a lane.');
  const picked = await vscode.window.showQuickPick(items, { title });
  return picked && { queue, lane: picked.label };
}

function needQueues(laneway: Laneway): readonly Queue[] {
  const queues = laneway.queues();
  if (queues.length > 0) return queues;
  if (!vscode.workspace.isTrusted) {
    throw new Guided('REFUSED', 'this workspace is not trusted', 'Trust the workspace to run jobs in it.', [
      { title: 'Manage Workspace Trust', command: 'workbench.trust.manage' },
    ]);
  }
  throw new Guided('INVALID_INPUT', 'no folder is open', 'Open a folder: jobs belong to one.', [
    { title: 'Open Folder', command: 'vscode.openFolder' },
  ]);
}

async function pickQueue(queues: readonly Queue[]): Promise<Queue | undefined> {
  const items = queues.map((queue) => ({ label: queue.name, description: queue.root, queue }));
  const picked = await vscode.window.showQuickPick(items, { title: 'Which folder?' });
  return picked?.queue;
}
