/**
 * Which endings of this window's own jobs are told, and how several are folded into one
 * message. Pure; `notifications.ts` asks the server and shows it.
 */
import { sayCount } from '../../../shared/format.ts';
import { type Counts, isTerminal, type Job } from '../../../shared/job.ts';
import type { Notifications } from '../config.ts';
import { escapeControls } from '../../../shared/text.ts';
import type { NextStep } from './failure.ts';
import { endingText, jobName } from '../views/title.ts';

/** What to say of jobs that ended. */
export interface Ending {
  kind: 'warning' | 'information';
  text: string;
  steps: NextStep[];
}

/** Whether a hint can mean that a followed job ended in a way that is told: only then the server is asked. */
export function worthAsking(before: Counts | null, now: Counts, mode: Notifications): boolean {
  if (mode === 'none') return false;
  if (before === null || now.dead > before.dead) return true;
  return mode === 'all' && now.done > before.done;
}

/** The jobs to stop following, and those of them to tell. */
export function settle(jobs: readonly Job[], mode: Notifications): { ended: Job[]; told: Job[] } {
  const ended = jobs.filter((job) => isTerminal(job.state));
  const told = ended.filter(
    (job) => (job.state === 'dead' && mode !== 'none') || (job.state === 'done' && mode === 'all'),
  );
  return { ended, told };
}

/**
 * One message for all of them; null for none. `handle` makes the argument of a job's command.
 * @param reason what is known beyond the job itself of how a single one ended
 */
export function foldEndings(
  jobs: readonly Job[],
  handle: (job: Job) => unknown,
  reason: string | null = null,
): Ending | null {
  const [first] = jobs;
  if (!first) return null;
  const dead = jobs.filter(({ state }) => state === 'dead');
  if (jobs.length === 1) return one(first, handle(first), reason);
  if (dead.length === 0) {
    return { kind: 'information', text: `${sayCount(jobs.length, 'job')} succeeded.`, steps: [find()] };
  }
  const names = dead.slice(0, 3).map(jobName).join(', ');
  const rest = dead.length > 3 ? ` and ${dead.length - 3} more` : '';
  const others = jobs.length > dead.length ? ` ${sayCount(jobs.length - dead.length, 'other')} succeeded.` : '';
  return {
    kind: 'warning',
    text: `${sayCount(dead.length, 'job')} failed: ${names}${rest}.${others}`,
    steps: [
      find(),
      {
        title: 'Retry All',
        command: 'laneway.retryJob',
        arguments: [handle(dead[0]!), dead.map((job) => handle(job))],
      },
    ],
  };
}

function one(job: Job, handle: unknown, reason: string | null): Ending {
  const log: NextStep = { title: 'Show Log', command: 'laneway.showLog', arguments: [handle] };
  if (job.state !== 'dead') return { kind: 'information', text: `${jobName(job)} succeeded.`, steps: [log] };
  const retry: NextStep = { title: 'Retry', command: 'laneway.retryJob', arguments: [handle] };
  const how = reason === null ? endingText(job) : escapeControls(reason);
  return {
    kind: 'warning',
    text: `${jobName(job)} failed${how ? `: ${how}` : ''}.`,
    steps: job.attempts > 0 ? [log, retry] : [retry],
  };
}

function find(): NextStep {
  return { title: 'Show Jobs', command: 'laneway.findJob' };
}
