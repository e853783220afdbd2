/**
 * `laneway.bumpJob`: let a waiting job run next or now. A second argument (`'next'`, `'now'`,
 * or `{priority}`) says which without asking.
 */
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import type { Job } from '../../../shared/job.ts';
import { MAX_PRIORITY, MIN_PRIORITY } from '../../../shared/limits.ts';
import { Bump, List } from '../../../shared/protocol.ts';
import type { Command, Queue } from '../context.ts';
import { report } from './results.ts';
import { type JobsTarget, overQueues, resolveJobs } from './target.ts';

type How = { priority?: number; now?: boolean };

export const bumpJob: Command = {
  id: 'laneway.bumpJob',
  doing: 'move the job forward',
  async run(laneway, argument, second) {
    const targets = await resolveJobs(laneway, argument, second, {
      title: 'Move which jobs forward?',
      states: ['queued', 'blocked'],
    });
    if (!targets) return undefined;
    const wish = given(second) ?? (await ask(targets));
    if (!wish) return undefined;
    const results = await overQueues(targets, async ({ queue, jobs }) => {
      const how = wish === 'next' ? await next(queue, jobs) : wish;
      return (await queue.request(Bump, { jobs: jobs.map(({ id }) => id), ...how })).results;
    });
    return report(results, 'moved');
  },
};

function given(how: unknown): How | 'next' | null {
  if (how === 'now') return { now: true };
  if (how === 'next') return how;
  const { priority, now } = (how ?? {}) as Record<string, unknown>;
  if (typeof priority !== 'number' && now !== true) return null;
  return { ...(typeof priority === 'number' ? { priority } : {}), now: now === true };
}

async function ask(targets: readonly JobsTarget[]): Promise<How | 'next' | undefined> {
  const jobs = targets.flatMap((target) => target.jobs);
  const items = [
    { label: '$(arrow-up) Run next', detail: 'before everything that waits in its lane', id: 'next' as const },
    {
      label: '$(zap) Run now',
      detail: 'due at once instead of at its time, its priority unchanged',
      id: 'now' as const,
    },
    {
      label: '$(list-ordered) Set priority…',
      detail: `now ${jobs.map((job) => job.priority).join(', ')}`,
      id: 'set' as const,
    },
  ];
  const picked = await vscode.window.showQuickPick(items, { title: 'How?' });
  if (!picked) return undefined;
  if (picked.id === 'now') return { now: true };
  if (picked.id === 'next') return 'next';
  const typed = await vscode.window.showInputBox({
    title: 'Priority',
    value: String(jobs[0]?.priority ?? 0),
    prompt: 'Higher starts earlier; 0 is usual',
    validateInput: (text) => (isPriority(Number(text)) && text.trim() !== '' ? null : 'A whole number'),
  });
  return typed === undefined ? undefined : { priority: Number(typed) };
}

/** Due at once, and above whatever now stands first in the lane. */
async function next(queue: Queue, jobs: Job[]): Promise<How> {
  let highest = MIN_PRIORITY;
  const moved = new Set(jobs.map(({ id }) => id));
  for (const lane of new Set(jobs.map((job) => job.lane))) {
    const limit = moved.size + 1;
    const { jobs: first } = await queue.request(List, { lane, states: ['queued'], order: 'claim', limit });
    for (const job of first) if (!moved.has(job.id)) highest = Math.max(highest, job.priority);
  }
  for (const job of jobs) highest = Math.max(highest, job.priority - 1);
  if (highest >= MAX_PRIORITY) {
    throw new LanewayError('CONFLICT', 'another job has the highest priority there is', 'Lower that one first.');
  }
  return { priority: highest + 1, now: true };
}

function isPriority(value: number): boolean {
  return Number.isInteger(value) && value >= MIN_PRIORITY && value <= MAX_PRIORITY;
}
