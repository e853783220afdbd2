/**
 * finish and closeReaped: the guarded end of an attempt. Job, attempt, worker and fence must all
 * match; otherwise somebody else owns the job by now, nothing is written, and that is an answer.
 */
import type { AttemptEnd, FinishResult, LogSizes, Owner, Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { settleDependents } from './dependents.ts';
import { decideEnd, decideReaped, type Ending, type Next, type Standing } from './ending.ts';
import { iso, record } from './events.ts';
import { nextStamp, refreshHead } from './heads.ts';
import { endJob, type LiveRow } from './live.ts';

/** Longest error text kept, characters. */
const MAX_ERROR = 4000;

/** The owner's word on how its attempt ended. */
export function finish(tx: Tx, owner: Owner, end: AttemptEnd): FinishResult {
  const row = ownedRow(tx, owner);
  if (row === undefined) return { applied: false };
  return carryOut(tx, row, owner, decideEnd(standing(tx, row), end), end, false);
}

/** A reaper's word, once the group of the attempt it took over is confirmed gone. */
export function closeReaped(
  tx: Tx,
  owner: Owner,
  sizes: LogSizes = { stdoutBytes: null, stderrBytes: null },
): FinishResult {
  const row = ownedRow(tx, owner);
  if (row === undefined) return { applied: false };
  return carryOut(tx, row, owner, decideReaped(standing(tx, row)), sizes, true);
}

interface OwnedRow extends LiveRow {
  max_retries: number;
  max_crashes: number;
  retry_delay_ms: number;
  retry_max_delay_ms: number;
}

function ownedRow(tx: Tx, owner: Owner): OwnedRow | undefined {
  return statement<OwnedRow>(
    tx.db,
    `SELECT r.*, j.max_retries, j.max_crashes, j.retry_delay_ms, j.retry_max_delay_ms
     FROM job_runtime r JOIN jobs j ON j.id = r.job_id
     WHERE r.job_id = ? AND r.state = 'running' AND r.attempts = ? AND r.worker_id = ? AND r.fence = ?`,
  ).get(owner.jobId, owner.attempt, owner.workerId, owner.fence);
}

function standing(tx: Tx, row: OwnedRow): Standing {
  const sleep = statement<{ name: string; until: number }>(
    tx.db,
    'SELECT name, until FROM checkpoints WHERE job_id = ? AND pending = 1 ORDER BY until DESC LIMIT 1',
  ).get(row.job_id);
  return {
    failures: row.failures,
    crashes: row.crashes,
    maxRetries: row.max_retries,
    maxCrashes: row.max_crashes,
    retryDelayMs: row.retry_delay_ms,
    retryMaxDelayMs: row.retry_max_delay_ms,
    cancelRequested: row.cancel_requested_at !== null,
    retryForced: row.retry_forced === 1,
    sleep: sleep ?? null,
  };
}

function carryOut(tx: Tx, row: OwnedRow, owner: Owner, ending: Ending, sizes: LogSizes, reaped: boolean): FinishResult {
  const { attempt, next } = ending;
  const closed = { ...attempt, error: attempt.error?.slice(0, MAX_ERROR) ?? null };
  closeAttempt(tx, owner, { attempt: closed, next }, sizes);
  recordEnd(tx, owner, { attempt: closed, next }, reaped);
  const result = { applied: true as const, attemptState: closed.state };
  switch (next.to) {
    case 'done':
    case 'dead':
    case 'canceled': {
      const spent = next.to === 'dead' ? { failures: next.failures, crashes: next.crashes } : null;
      const reason = next.to === 'done' ? null : next.to === 'dead' ? next.reason : ('canceled' as const);
      endJob(tx, { ...row, ...spent }, { ...closed, state: next.to, reason });
      const settleMore = settleDependents(tx, [row.job_id]);
      return { ...result, jobState: next.to, settleMore };
    }
    case 'backoff':
    case 'again':
    case 'forced':
    case 'asleep':
      requeue(tx, row, owner, next);
      return { ...result, jobState: 'queued', settleMore: false };
    default:
      return next satisfies never;
  }
}

function closeAttempt(tx: Tx, owner: Owner, { attempt }: Ending, sizes: LogSizes): void {
  statement(
    tx.db,
    // A clock that stepped back must not make an attempt end before it began.
    `UPDATE attempts SET state = ?, finished_at = max(?, started_at), exit_code = ?, signal = ?, reason = ?, error = ?,
       stdout_bytes = ?, stderr_bytes = ?
     WHERE job_id = ? AND number = ? AND state = 'running'`,
  ).run(
    attempt.state,
    tx.now,
    attempt.exitCode,
    attempt.signal,
    attempt.reason,
    attempt.error,
    sizes.stdoutBytes,
    sizes.stderrBytes,
    owner.jobId,
    owner.attempt,
  );
  statement(tx.db, 'UPDATE checkpoints SET pending = 0 WHERE job_id = ? AND pending = 1').run(owner.jobId);
}

/** The event of the attempt's end, where it has one of its own, and that of the job's end. */
function recordEnd(tx: Tx, owner: Owner, { attempt, next }: Ending, reaped: boolean): void {
  const { state, reason, exitCode, signal, error } = attempt;
  if (reaped) {
    record(tx, 'reaped', owner, { fence: owner.fence, reason: reason === 'canceled' ? 'canceled' : 'worker_crash' });
  } else if (state === 'failed' || state === 'timed_out') {
    record(tx, state, owner, { reason, exitCode, signal, error });
  }
  if (next.to === 'done') record(tx, 'succeeded', owner, { exitCode: 0 });
  if (next.to === 'dead') record(tx, 'dead', owner, { reason: next.reason });
  if (next.to === 'canceled') record(tx, 'canceled', owner, { from: 'running', reason: 'canceled' });
}

/** Back into the queue. */
function requeue(tx: Tx, row: LiveRow, owner: Owner, next: Exclude<Next, { to: 'done' | 'dead' | 'canceled' }>): void {
  const place = { due: 1, backingOff: 0, failures: row.failures, crashes: row.crashes, at: 0 };
  switch (next.to) {
    case 'backoff':
      Object.assign(place, { due: 0, backingOff: 1, failures: next.failures, crashes: next.crashes });
      place.at = tx.now + next.delayMs;
      record(tx, 'retried', owner, {
        state: 'queued',
        automatic: true,
        manual: false,
        because: next.because,
        nextRunAt: iso(place.at),
      });
      break;
    case 'again':
      // Its old stamp: it was interrupted, so it goes on before those that came later.
      place.at = row.next_run_at;
      record(tx, 'retried', owner, { state: 'queued', automatic: true, manual: false, because: 'stopped' });
      break;
    case 'forced':
      Object.assign(place, { failures: 0, crashes: 0 });
      place.at = nextStamp(tx);
      record(tx, 'retried', owner, { state: 'queued', automatic: false, manual: true, forced: true });
      break;
    case 'asleep':
      place.due = 0;
      place.at = next.until;
      statement(tx.db, `UPDATE checkpoints SET slept = 1 WHERE job_id = ? AND name = ? AND kind = 'sleep'`).run(
        row.job_id,
        next.name,
      );
      record(tx, 'slept', owner, { name: next.name, until: iso(next.until) });
      break;
  }
  statement(
    tx.db,
    `UPDATE job_runtime SET state = 'queued', next_run_at = ?, due = ?, backing_off = ?, failures = ?, crashes = ?,
       worker_id = NULL, lease_until = NULL, cancel_requested_at = NULL, retry_forced = 0
     WHERE job_id = ?`,
  ).run(place.at, place.due, place.backingOff, place.failures, place.crashes, row.job_id);
  if (place.due === 1) refreshHead(tx, row.lane);
}
