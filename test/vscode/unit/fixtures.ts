/** Jobs, lanes and a queue of no server, for tests of the extension's pure parts. */
import type { Attempt, Counts, Job, Lane } from '../../../shared/job.ts';
import type { Queue } from '../../../client/vscode/context.ts';
import { ago, NOW, sampleAttempt, sampleJob, sampleLane } from '../../helpers/samples.ts';

export { ago, NOW };

/** A queued job, due and first in its lane, with what is given on top. */
export function job(id: number, more: Partial<Job> = {}): Job {
  const state = more.state ?? 'queued';
  return sampleJob({
    id,
    cwd: '/w',
    phase: state === 'queued' ? 'ready' : state,
    nextRunAt: state === 'queued' ? ago(60_000) : null,
    createdAt: ago(60_000),
    ...more,
  });
}

/** A running attempt, with what is given on top. */
export function attempt(jobId: number, number: number, more: Partial<Attempt> = {}): Attempt {
  return sampleAttempt({
    jobId,
    number,
    state: 'running',
    startedAt: ago(5000),
    finishedAt: null,
    durationMs: null,
    exitCode: null,
    failureReason: null,
    stdoutBytes: null,
    stderrBytes: null,
    ...more,
  });
}

export function lane(name: string, more: Partial<Lane> = {}): Lane {
  return sampleLane({ name, ...more });
}

export function counts(more: Partial<Counts> = {}): Counts {
  return { blocked: 0, queued: 0, running: 0, done: 0, failed: 0, dead: 0, canceled: 0, ...more };
}

/** A queue by name only. */
export const queue = { name: 'w', root: '/w', cache: { counts: null } } as unknown as Queue;
