/**
 * cancel: a waiting job ends at once; a running one is asked to, and ends when its worker has seen
 * its process group gone (finish, closeReaped). The slot stays taken until then.
 */
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { JobResult, Selection } from '../../../shared/protocol.ts';
import type { Tx } from '../api.ts';
import { select } from '../queries/list.ts';
import { statement } from '../statements.ts';
import { settleDependents } from './dependents.ts';
import { record } from './events.ts';
import { endJob, liveRow, outcomeState } from './live.ts';
import { conflict, tryJob } from './results.ts';

/** Rows that cancelling one job costs, its dependents apart. */
const ROWS_EACH = 4;
const STEP = MAX_TRANSITION_ROWS / 2 / ROWS_EACH;

/**
 * Cancels the first jobs of the selection, as many as one transaction may touch. With `more` the
 * rest of the ids (those after `results.length`) is to be asked for. Dependents that one transaction
 * may not touch are left to `settle`.
 */
export function cancel(
  tx: Tx,
  selection: Selection,
): { results: (JobResult & { wasRunning: boolean })[]; more: boolean } {
  const refs = selection.ids ?? select(tx, selection, STEP + 1);
  const ended: number[] = [];
  const results = refs
    .slice(0, STEP)
    .map((ref) => tryJob(tx, ref, { wasRunning: false }, (id) => cancelOne(tx, id, ended)));
  settleDependents(tx, ended, MAX_TRANSITION_ROWS / 2);
  return { results, more: refs.length > STEP };
}

function cancelOne(tx: Tx, jobId: number, ended: number[]): { wasRunning: boolean } {
  const row = liveRow(tx, jobId);
  if (row === undefined) {
    const state = outcomeState(tx, jobId);
    if (state === 'canceled') return { wasRunning: false };
    throw conflict(`job ${jobId} is ${state} already and cannot be cancelled`, 'Nothing is left to cancel');
  }
  if (row.state === 'running') {
    // Asked before: nothing to do, unless a forced retry asked; this overrides it.
    if (row.cancel_requested_at === null || row.retry_forced === 1) {
      statement(
        tx.db,
        `UPDATE job_runtime SET cancel_requested_at = coalesce(cancel_requested_at, ?), retry_forced = 0 WHERE job_id = ?`,
      ).run(tx.now, jobId);
      record(tx, 'cancel_requested', { jobId, attempt: row.attempts, workerId: row.worker_id }, { retry: false });
    }
    return { wasRunning: true };
  }
  record(tx, 'canceled', { jobId }, { from: row.state, reason: 'canceled' });
  endJob(tx, row, { state: 'canceled', reason: 'canceled' });
  ended.push(jobId);
  return { wasRunning: false };
}
