/** Which attempt a log command means, with the job's rows as they are now. */
import { LanewayError } from '../../../shared/errors.ts';
import { sayLocally } from '../../../shared/format.ts';
import type { Attempt, Job } from '../../../shared/job.ts';
import { Show } from '../../../shared/protocol.ts';
import { attemptOf } from '../commands/arguments.ts';
import { resolveJob } from '../commands/target.ts';
import type { JobArgument, Laneway, Queue } from '../context.ts';

export interface AttemptTarget {
  queue: Queue;
  job: Job;
  attempt: Attempt;
}

/**
 * The attempt of a tree node, of `{queue, job, attempt}`, or the newest of the job that the
 * argument names; asks when it names none. Undefined when the person gave up.
 * @throws LanewayError CONFLICT when the job has not started yet.
 */
export async function resolveAttempt(laneway: Laneway, argument: JobArgument): Promise<AttemptTarget | undefined> {
  const handle = await resolveJob(laneway, argument, {
    title: 'Show the log of which job?',
    fits: (job) => job.attempts > 0,
  });
  if (handle === undefined) return undefined;
  const wanted = attemptOf(argument);
  const { job, attempts } = await handle.queue.request(Show, { job: handle.job.id });
  const attempt = wanted === null ? attempts.at(-1) : attempts.find((each) => each.number === wanted);
  if (attempt !== undefined) return { queue: handle.queue, job, attempt };
  if (wanted !== null) throw new LanewayError('NOT_FOUND', `job ${job.id} has no attempt ${wanted}`);
  throw new LanewayError(
    'CONFLICT',
    `job ${job.id} has not started, so it has no log yet`,
    job.waitReason === null ? null : `It waits: ${sayLocally(job.waitReason)}.`,
  );
}

/** The attempt as its row is now. */
export async function currentAttempt({ queue, job, attempt }: AttemptTarget): Promise<Attempt> {
  const { attempts } = await queue.request(Show, { job: job.id });
  return attempts.find((each) => each.number === attempt.number) ?? attempt;
}
