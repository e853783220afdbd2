/**
 * What a claim reads of a lane: its row, which repeats the first due job in claim order (the head).
 * Whoever changes which job is first calls `refreshHead`; the claim then reads one index over
 * lanes, however many jobs wait. Measured: with 100,000 delayed jobs of higher priority a claim
 * over the jobs themselves costs a thousand times as much.
 */
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { recordLane } from './events.ts';

/** Repeat the first due job of the lane in its row: one probe of the claim's index, one row. */
export function refreshHead(tx: Tx, lane: string): void {
  statement(
    tx.db,
    `UPDATE lanes SET (head_priority, head_run_at, head_id) = (
       SELECT priority, next_run_at, job_id FROM job_runtime
       WHERE lane = lanes.name AND state = 'queued' AND due = 1
       ORDER BY priority DESC, next_run_at, job_id LIMIT 1)
     WHERE name = ?`,
  ).run(lane);
}

/** Jobs whose time has come and is noted in one transaction. */
const PROMOTE = 300;

/**
 * Note which delayed jobs have become due, the longest due first, so that the claim sees them. At
 * most {@link PROMOTE}; the rest by the next claims.
 */
export function promoteDue(tx: Tx): void {
  const promoted = statement<{ lane: string }>(
    tx.db,
    `UPDATE job_runtime SET due = 1, backing_off = 0 WHERE job_id IN (
       SELECT job_id FROM job_runtime WHERE state = 'queued' AND due = 0 AND next_run_at <= ?
       ORDER BY next_run_at, job_id LIMIT ${PROMOTE})
     RETURNING lane`,
  ).all(tx.now);
  for (const lane of new Set(promoted.map((row) => row.lane))) refreshHead(tx, lane);
}

/** Defaults that a lane gives to its jobs, as stored. */
export interface LaneDefaults {
  timeout_ms: number | null;
  cancel_grace_ms: number | null;
  max_retries: number | null;
  retry_delay_ms: number | null;
  retry_max_delay_ms: number | null;
}

/** The lane's defaults; the lane is made when it is new. */
export function ensureLane(tx: Tx, name: string): LaneDefaults {
  const select = statement<LaneDefaults>(
    tx.db,
    `SELECT timeout_ms, cancel_grace_ms, max_retries, retry_delay_ms, retry_max_delay_ms FROM lanes WHERE name = ?`,
  );
  const found = select.get(name);
  if (found !== undefined) return found;
  statement(tx.db, 'INSERT INTO lanes (name) VALUES (?)').run(name);
  recordLane(tx, { lane: name, change: 'created' });
  return {
    timeout_ms: null,
    cancel_grace_ms: null,
    max_retries: null,
    retry_delay_ms: null,
    retry_max_delay_ms: null,
  };
}

/**
 * The stamp of a job that is due at once. It only orders, so it never goes back, whatever the clock
 * does: what is added later runs later.
 */
export function nextStamp(tx: Tx): number {
  const found = statement<{ value: string }>(tx.db, `SELECT value FROM meta WHERE key = 'stamp'`).get();
  const last = found === undefined ? 0 : Number(found.value);
  if (tx.now <= last) return last;
  statement(
    tx.db,
    `INSERT INTO meta (key, value) VALUES ('stamp', ?) ON CONFLICT DO UPDATE SET value = excluded.value`,
  ).run(String(tx.now));
  return tx.now;
}
