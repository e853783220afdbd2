/**
 * A dead job back from its outcome into the queue, with fresh budgets and its old attempt numbers. What
 * must not come back: a job whose key another one has by now, one whose need never will be done, and one
 * that pruning has begun to take apart.
 */
import { LanewayError } from '../../../shared/errors.ts';
import type { JobState, NeedPolicy } from '../../../shared/job.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Tx } from '../api.ts';
import { isLeaving } from '../queries/retention.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { ensureLane, nextStamp, refreshHead } from './heads.ts';
import { liveRow, outcomeState } from './live.ts';
import { conflict } from './results.ts';

export interface EndedJob {
  job_id: number;
  state: JobState;
  lane: string;
  priority: number;
  attempts: number;
  fence: number;
  key: string | null;
  on_need_failure: NeedPolicy;
}

/** A job that has ended; undefined when it is live or does not exist. */
export function endedJob(tx: Tx, jobId: number): EndedJob | undefined {
  return statement<EndedJob>(
    tx.db,
    `SELECT o.job_id, o.state, o.lane, o.priority, o.attempts, o.fence, j.key, j.on_need_failure
     FROM job_outcomes o JOIN jobs j ON j.id = o.job_id WHERE o.job_id = ?`,
  ).get(jobId);
}

/**
 * Back into the queue. `withNeed` is the need that takes it along.
 * @throws CONFLICT, KEY_CONFLICT with nothing written
 */
export function revive(tx: Tx, ended: EndedJob, withNeed: number | null): void {
  const { job_id: jobId, lane } = ended;
  refuseLeaving(tx, jobId);
  refuseTakenKey(tx, ended);
  const needs = needsNow(tx, ended);
  // What is left of its end must not settle those that now wait for it again.
  statement(tx.db, 'DELETE FROM settlements WHERE job_id = ?').run(jobId);
  statement(tx.db, 'DELETE FROM job_outcomes WHERE job_id = ?').run(jobId);
  for (const need of needs) {
    statement(tx.db, 'UPDATE job_needs SET satisfied = ? WHERE job_id = ? AND need_id = ?').run(
      need.satisfied ? 1 : 0,
      jobId,
      need.id,
    );
  }
  const left = needs.filter((need) => !need.satisfied).length;
  const state = left > 0 ? 'blocked' : 'queued';
  ensureLane(tx, lane);
  statement(
    tx.db,
    `INSERT INTO job_runtime (job_id, state, lane, key, priority, next_run_at, due, attempts, fence, needs_left)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)`,
  ).run(jobId, state, lane, ended.key, ended.priority, nextStamp(tx), ended.attempts, ended.fence, left);
  refreshHead(tx, lane);
  record(
    tx,
    'retried',
    { jobId },
    { state, automatic: false, manual: true, ...(withNeed === null ? null : { withNeed }) },
  );
}

/** @throws CONFLICT: what came back would be a job with half a history. */
export function refuseLeaving(tx: Tx, jobId: number): void {
  if (!isLeaving(tx, jobId)) return;
  throw conflict(`job ${jobId} is being pruned`, `Run it again as a new job: lane rerun ${jobId}`);
}

/** @throws KEY_CONFLICT when a live job has its key by now */
export function refuseTakenKey(tx: Tx, { job_id: jobId, key }: EndedJob): void {
  if (key === null) return;
  const holder = statement<{ job_id: number }>(tx.db, 'SELECT job_id FROM job_runtime WHERE key = ?').get(key);
  if (holder === undefined) return;
  throw new LanewayError(
    'KEY_CONFLICT',
    `job ${jobId} cannot be retried: job ${holder.job_id}, which is not finished, has its key ${quoteValue(key)}`,
    `Wait for job ${holder.job_id} or cancel it first`,
  );
}

/** How many needs it has: each may cost a row. */
export function needCount(tx: Tx, jobId: number): number {
  return statement<{ n: number }>(tx.db, 'SELECT count(*) AS n FROM job_needs WHERE job_id = ?').get(jobId)?.n ?? 0;
}

export interface NeedNow {
  id: number;
  satisfied: boolean;
}

/**
 * Its prerequisites as they stand now. One that is dead may yet be retried, so it is waited for; one
 * that was canceled, or pruned after it had not been done, never will be done. `standIn` gives the job
 * that took a need's place.
 * @throws CONFLICT when one never will be done
 */
export function needsNow(
  tx: Tx,
  { job_id: jobId, on_need_failure: policy }: EndedJob,
  standIn: (need: number) => number = (need) => need,
): NeedNow[] {
  const rows = statement<{ need_id: number; satisfied: number }>(
    tx.db,
    'SELECT need_id, satisfied FROM job_needs WHERE job_id = ? ORDER BY need_id',
  ).all(jobId);
  return rows.map(({ need_id: need, satisfied }) => {
    const id = standIn(need);
    const live = liveRow(tx, id) !== undefined;
    const outcome = outcomeState(tx, id);
    if (live) return { id, satisfied: false };
    if (outcome === 'done' || policy === 'release') return { id, satisfied: true };
    if (outcome === 'dead' && !isLeaving(tx, id)) return { id, satisfied: false };
    if (outcome === undefined && satisfied === 1) return { id, satisfied: true };
    const how = outcome === undefined || outcome === 'dead' ? 'pruned without having been done' : 'canceled';
    throw conflict(
      `job ${jobId} cannot be retried: job ${id}, which it needs, was ${how}`,
      `Run it without its needs, as a new job: lane rerun ${jobId}`,
    );
  });
}
