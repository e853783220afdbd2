/** Verbs over several jobs: each is tried, each has its own answer. */
import { LanewayError } from '../../../shared/errors.ts';
import type { JobState } from '../../../shared/job.ts';
import type { JobRef, JobResult } from '../../../shared/protocol.ts';
import type { Tx } from '../api.ts';
import { resolve } from '../queries/resolve.ts';
import { liveRow, outcomeState } from './live.ts';

/** The stored state of a job that exists. */
export function stateOf(tx: Tx, jobId: number): JobState | null {
  return liveRow(tx, jobId)?.state ?? outcomeState(tx, jobId) ?? null;
}

/**
 * Calls `act` with the id that a reference names and turns what it throws into that job's error; the
 * others go on. So `act` checks first and writes after: what it wrote before it threw would stay.
 */
export function tryJob<R extends object>(tx: Tx, ref: JobRef, none: R, act: (jobId: number) => R): JobResult & R {
  let jobId: number;
  try {
    jobId = resolve(tx, ref);
  } catch (error) {
    return { ...none, id: ref, state: null, error: dataOf(error) };
  }
  try {
    const extra = act(jobId);
    return { ...extra, id: jobId, state: stateOf(tx, jobId), error: null };
  } catch (error) {
    return { ...none, id: jobId, state: stateOf(tx, jobId), error: dataOf(error) };
  }
}

/** Only our own errors concern one job; any other undoes the whole transition. */
function dataOf(error: unknown): JobResult['error'] {
  if (error instanceof LanewayError) return error.toData();
  throw error;
}

export function conflict(message: string, hint: string): LanewayError {
  return new LanewayError('CONFLICT', message, hint);
}
