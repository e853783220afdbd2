/** rerun: a new job with the same identity, linked to the old one, without its key and its needs. */
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { JobRef, JobResult } from '../../../shared/protocol.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { ensureLane, nextStamp, refreshHead } from './heads.ts';
import { insertJobs, type NewJob, nextJobId } from './insert.ts';
import { tryJob } from './results.ts';

/** Rows that one job costs: identity, live row, event, lane and its event. */
const STEP = MAX_TRANSITION_ROWS / 5;

/**
 * The first of the jobs, as many as one transaction may touch; `more` as in cancel.
 * @returns the ids of the new jobs, and for each reference how that job stands.
 */
export function rerun(tx: Tx, jobs: JobRef[]): { ids: number[]; results: JobResult[]; more: boolean } {
  const ids: number[] = [];
  const results = jobs.slice(0, STEP).map((ref) =>
    tryJob(tx, ref, {}, (jobId) => {
      ids.push(rerunOne(tx, jobId));
      return {};
    }),
  );
  return { ids, results, more: jobs.length > STEP };
}

/** What a rerun has of the job it repeats. */
export type Copied = Omit<NewJob, 'id' | 'key' | 'rerun_of' | 'next_run_at' | 'due' | 'needs' | 'settled'>;

export function copyOf(tx: Tx, jobId: number): Copied {
  const copied = statement<Copied>(
    tx.db,
    `SELECT lane, argv, cwd, label, tags, max_retries, max_crashes, retry_delay_ms, retry_max_delay_ms, timeout_ms,
       cancel_grace_ms, split, on_need_failure, environment_id, env, umask, priority FROM job_view WHERE id = ?`,
  ).get(jobId);
  if (copied === undefined) throw new Error(`job ${jobId} vanished within its transaction`);
  return copied;
}

function rerunOne(tx: Tx, jobId: number): number {
  const copied = copyOf(tx, jobId);
  const id = nextJobId(tx);
  ensureLane(tx, copied.lane);
  insertJobs(tx, [
    { ...copied, id, key: null, rerun_of: jobId, next_run_at: nextStamp(tx), due: 1, needs: [], settled: false },
  ]);
  refreshHead(tx, copied.lane);
  return id;
}
