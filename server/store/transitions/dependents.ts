/**
 * What a job's end means for those that need it: done releases, dead and canceled settle by each
 * dependent's policy, and whom that settles is an end in turn. A transaction does a bounded part;
 * the ended jobs whose dependents are left are kept in `settlements`, where `settle` goes on. A
 * dependent that is still blocked meanwhile is not wrong, only late.
 */
import type { NeedPolicy } from '../../../shared/job.ts';
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { refreshHead } from './heads.ts';
import { endJob, liveRow, outcomeState } from './live.ts';
import { anyRevival, reviveSome } from './revivals.ts';

/** Rows that one dependent may cost: its need, its live row, its outcome, its event, its own settlement. */
const ROWS_EACH = 5;
/** Ended jobs taken up in one step of `settle`. */
const RESUME = 20;

interface Dependent {
  job_id: number;
  on_need_failure: NeedPolicy;
}

/** Settle the dependents of ended jobs, at most so many that the limit of rows holds. True: call `settle`. */
export function settleDependents(tx: Tx, ended: number[], rows: number = MAX_TRANSITION_ROWS): boolean {
  const work = [...ended];
  const lanes = new Set<string>();
  let left = Math.floor(rows / ROWS_EACH);
  while (work.length > 0 && left > 0) {
    const need = work[0] as number;
    const state = outcomeState(tx, need);
    const dependents = state === undefined ? [] : blockedBy(tx, need, left);
    for (const { job_id: jobId, on_need_failure: policy } of dependents) {
      if (state === 'done' || policy === 'release') {
        const lane = satisfy(tx, jobId, need);
        if (lane !== null) lanes.add(lane);
      } else {
        settleAt(tx, jobId, policy, need);
        if (blockedBy(tx, jobId, 1).length > 0) work.push(jobId);
      }
    }
    if (dependents.length < left) work.shift();
    left -= dependents.length;
  }
  for (const lane of lanes) refreshHead(tx, lane);
  for (const id of work) statement(tx.db, 'INSERT OR IGNORE INTO settlements (job_id) VALUES (?)').run(id);
  return work.length > 0;
}

/** One more step of what an earlier transaction left over, within a limit of rows. True: call again. */
export function settle(tx: Tx, rows: number = MAX_TRANSITION_ROWS): boolean {
  const pending = statement<{ job_id: number }>(
    tx.db,
    `SELECT job_id FROM settlements ORDER BY job_id LIMIT ${RESUME}`,
  ).all();
  if (pending.length === 0) return reviveSome(tx, rows);
  for (const { job_id: id } of pending) statement(tx.db, 'DELETE FROM settlements WHERE job_id = ?').run(id);
  const more = settleDependents(
    tx,
    pending.map((row) => row.job_id),
    rows - 2 * RESUME,
  );
  return more || pending.length === RESUME || anyRevival(tx);
}

/** End a blocked job because of how its prerequisite ended. */
export function settleAt(tx: Tx, jobId: number, policy: NeedPolicy, need: number): void {
  const row = liveRow(tx, jobId);
  if (row === undefined) return;
  const state = policy === 'dead' ? 'dead' : 'canceled';
  if (state === 'dead') record(tx, 'dead', { jobId }, { reason: 'dependency', need });
  else record(tx, 'canceled', { jobId }, { from: 'blocked', reason: 'dependency', need });
  endJob(tx, row, { state, reason: 'dependency', settledBy: need });
}

/** Jobs that wait for this one, in id order. */
function blockedBy(tx: Tx, need: number, limit: number): Dependent[] {
  return statement<Dependent>(
    tx.db,
    `SELECT n.job_id, j.on_need_failure FROM job_needs n
     JOIN job_runtime r ON r.job_id = n.job_id AND r.state = 'blocked'
     JOIN jobs j ON j.id = n.job_id
     WHERE n.need_id = ? AND n.satisfied = 0 ORDER BY n.job_id LIMIT ?`,
  ).all(need, limit);
}

/** Count one prerequisite as done. Gives the lane when that released the job into its claim order. */
function satisfy(tx: Tx, jobId: number, need: number): string | null {
  statement(tx.db, 'UPDATE job_needs SET satisfied = 1 WHERE job_id = ? AND need_id = ?').run(jobId, need);
  const row = statement<{ needs_left: number; lane: string }>(
    tx.db,
    `UPDATE job_runtime SET needs_left = needs_left - 1, state = iif(needs_left = 1, 'queued', 'blocked')
     WHERE job_id = ? AND state = 'blocked' RETURNING needs_left, lane`,
  ).get(jobId);
  if (row === undefined || row.needs_left > 0) return null;
  record(tx, 'released', { jobId }, { need });
  return row.lane;
}
