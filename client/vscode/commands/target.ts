/**
 * Which job a command means. Every job command takes a tree node, a `{queue, job}`, a job
 * object, a job id, or nothing: then it asks, offering only the jobs it fits.
 */
import type { Job, StateFilter } from '../../../shared/job.ts';
import type { JobArgument, JobHandle, Laneway } from '../context.ts';

/** What to ask for when the argument names no job. */
export interface JobQuestion {
  /** Title of the quick pick, e.g. `Cancel which job?`. */
  title: string;
  /** States offered; absent: all. */
  states?: StateFilter[];
  /** A finer test on top of `states`. */
  fits?: (job: Job) => boolean;
}
export type ResolveJob = (
  laneway: Laneway,
  argument: JobArgument,
  question: JobQuestion,
) => Promise<JobHandle | undefined>;
