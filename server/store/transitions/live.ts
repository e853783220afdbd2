/** The two sides of a job's life as rows, and the step from one to the other. */
import type { FailureReason, LiveState, TerminalState } from '../../../shared/job.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { recordLane } from './events.ts';
import { refreshHead } from './heads.ts';

/** `job_runtime`, as far as transitions decide by it. Flags are 0 or 1. */
export interface LiveRow {
  job_id: number;
  state: LiveState;
  lane: string;
  priority: number;
  next_run_at: number;
  due: number;
  backing_off: number;
  attempts: number;
  failures: number;
  crashes: number;
  worker_id: string | null;
  fence: number;
  cancel_requested_at: number | null;
  retry_forced: number;
}

/** The live row of a job; undefined when it has ended or does not exist. */
export function liveRow(tx: Tx, jobId: number): LiveRow | undefined {
  return statement<LiveRow>(
    tx.db,
    `SELECT job_id, state, lane, priority, next_run_at, due, backing_off, attempts, failures, crashes, worker_id, fence,
       cancel_requested_at, retry_forced
     FROM job_runtime WHERE job_id = ?`,
  ).get(jobId);
}

/** The state of an ended job; undefined when it is live or does not exist. */
export function outcomeState(tx: Tx, jobId: number): TerminalState | undefined {
  return statement<{ state: TerminalState }>(tx.db, 'SELECT state FROM job_outcomes WHERE job_id = ?').get(jobId)
    ?.state;
}

/** How a job ended: what its outcome row says beyond the live row. */
export interface Outcome {
  state: TerminalState;
  reason: FailureReason | null;
  exitCode?: number | null;
  signal?: string | null;
  error?: string | null;
  /** The prerequisite whose end settled it. */
  settledBy?: number | null;
}

/**
 * The one step out of `job_runtime`: the live row goes, the outcome comes. Its running attempt is
 * closed before, its dependents are settled after; both are the caller's.
 */
export function endJob(tx: Tx, row: LiveRow, outcome: Outcome): void {
  statement(tx.db, 'DELETE FROM job_runtime WHERE job_id = ?').run(row.job_id);
  statement(
    tx.db,
    `INSERT INTO job_outcomes (job_id, state, lane, reason, exit_code, signal, error, priority, attempts, failures,
       crashes, fence, finished_at, settled_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    row.job_id,
    outcome.state,
    row.lane,
    outcome.reason,
    outcome.exitCode ?? null,
    outcome.signal ?? null,
    outcome.error ?? null,
    row.priority,
    row.attempts,
    row.failures,
    row.crashes,
    row.fence,
    tx.now,
    outcome.settledBy ?? null,
  );
  if (row.state === 'queued' && row.due === 1) refreshHead(tx, row.lane);
  if (outcome.state === 'dead') pauseAfterDeath(tx, row.lane, row.job_id);
}

function pauseAfterDeath(tx: Tx, lane: string, jobId: number): void {
  const paused = statement(
    tx.db,
    'UPDATE lanes SET paused = 1 WHERE name = ? AND pause_on_failure = 1 AND paused = 0',
  ).run(lane).changes;
  if (paused > 0) recordLane(tx, { lane, change: 'paused', by: jobId });
}
