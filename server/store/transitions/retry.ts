/**
 * retry: a person's wish that a job runs again, with fresh budgets. A dead job comes back to life; one
 * that waits for its next try goes at once; a running one, with force, is cancelled and then requeued.
 * Attempt numbers go on.
 */
import { LanewayError } from '../../../shared/errors.ts';
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { JobResult, Selection } from '../../../shared/protocol.ts';
import type { Tx } from '../api.ts';
import { select } from '../queries/list.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { nextStamp, refreshHead } from './heads.ts';
import { liveRow, type LiveRow } from './live.ts';
import { conflict, tryJob } from './results.ts';
import { reviveDependentsOf, reviveSome } from './revivals.ts';
import { endedJob, needCount, revive } from './revive.ts';

/** Rows that one job costs: outcome, live row, event, lane and its event, and its needs, of which there may be many. */
const ROWS_EACH = 6;
/** Jobs looked at in one transaction. */
const STEP = MAX_TRANSITION_ROWS / 2 / ROWS_EACH;

/**
 * Retries the first jobs of the selection, as many as one transaction may touch; `more` as in cancel.
 * `withDependents` also brings back what the death of a job had settled, as far as one transaction may:
 * the rest is left to `settle`.
 */
export function retry(
  tx: Tx,
  args: { selection: Selection; force: boolean; withDependents: boolean },
): { results: JobResult[]; more: boolean } {
  const refs = args.selection.ids ?? select(tx, args.selection, STEP + 1);
  const results: JobResult[] = [];
  let rows = MAX_TRANSITION_ROWS / 2;
  for (const ref of refs.slice(0, STEP)) {
    if (rows <= 0) break;
    results.push(
      tryJob(tx, ref, {}, (id) => {
        rows -= ROWS_EACH + needCount(tx, id);
        return retryOne(tx, id, args);
      }),
    );
  }
  if (args.withDependents) reviveSome(tx, MAX_TRANSITION_ROWS / 3);
  return { results, more: refs.length > results.length };
}

function retryOne(
  tx: Tx,
  jobId: number,
  { force, withDependents }: { force: boolean; withDependents: boolean },
): object {
  const row = liveRow(tx, jobId);
  if (row === undefined) {
    const ended = endedJob(tx, jobId);
    if (ended === undefined) throw new LanewayError('NOT_FOUND', `job ${jobId} does not exist`, null);
    if (ended.state !== 'dead') {
      throw conflict(
        `job ${jobId} is ${ended.state}; only a dead job is retried`,
        `Run it again as a new job: lane rerun ${jobId}`,
      );
    }
    revive(tx, ended, null);
    if (withDependents) reviveDependentsOf(tx, jobId);
  } else if (row.state === 'queued') {
    retryWaiting(tx, row);
  } else if (row.state === 'running') {
    retryRunning(tx, row, force);
  } else {
    throw conflict(`job ${jobId} waits for the jobs it needs`, `see what it waits for: lane show ${jobId}`);
  }
  return {};
}

function retryWaiting(tx: Tx, row: LiveRow): void {
  if (row.backing_off === 0 && row.failures === 0 && row.crashes === 0) {
    throw conflict(
      `job ${row.job_id} is queued and has not failed`,
      `To run it earlier: lane bump ${row.job_id} --now`,
    );
  }
  statement(
    tx.db,
    'UPDATE job_runtime SET failures = 0, crashes = 0, due = 1, backing_off = 0, next_run_at = ? WHERE job_id = ?',
  ).run(row.due === 1 ? row.next_run_at : nextStamp(tx), row.job_id);
  refreshHead(tx, row.lane);
  record(tx, 'retried', { jobId: row.job_id }, { state: 'queued', automatic: false, manual: true });
}

function retryRunning(tx: Tx, row: LiveRow, force: boolean): void {
  const jobId = row.job_id;
  if (!force) {
    throw conflict(`job ${jobId} is running`, `to stop this attempt and run it again: lane retry ${jobId} --force`);
  }
  if (row.retry_forced === 1) return;
  if (row.cancel_requested_at !== null) {
    throw conflict(`job ${jobId} is being cancelled`, `when it has ended: lane rerun ${jobId}`);
  }
  statement(tx.db, 'UPDATE job_runtime SET cancel_requested_at = ?, retry_forced = 1 WHERE job_id = ?').run(
    tx.now,
    jobId,
  );
  record(tx, 'cancel_requested', { jobId, attempt: row.attempts, workerId: row.worker_id }, { retry: true });
}
