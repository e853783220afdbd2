/**
 * retry `--with-dependents`: what the death of a job had settled comes back with it, and what that had
 * settled in turn. A dead dependent comes back itself; a canceled one never does, so a rerun takes its
 * place, with needs that name the reruns of what it needed. What a person cancelled stays so.
 *
 * A transaction brings a bounded part. The rest stands in `revivals`, one row for each job whose
 * dependents are still to come, and goes by ascending ids: needs are smaller than what needs them, so
 * that whoever is brought back finds its needs back already.
 */
import { LanewayError } from '../../../shared/errors.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { copyOf } from './rerun.ts';
import { ensureLane, nextStamp, refreshHead } from './heads.ts';
import { insertJobs, nextJobId } from './insert.ts';
import { outcomeState } from './live.ts';
import {
  endedJob,
  type EndedJob,
  needCount,
  type NeedNow,
  needsNow,
  refuseLeaving,
  refuseTakenKey,
  revive,
} from './revive.ts';

/** Rows that one dependent costs, its needs apart: identity, live row, event, lane and its event, its place here. */
const ROWS_EACH = 8;

/** From now on, what the end of this job had settled is to come back. */
export function reviveDependentsOf(tx: Tx, need: number): void {
  advance(tx, need, 0);
}

/** Bring back at most so many that the limit of rows holds. True: there are more. */
export function reviveSome(tx: Tx, rows: number): boolean {
  let left = rows;
  for (;;) {
    const next = statement<{ need_id: number; next_id: number }>(
      tx.db,
      'SELECT need_id, next_id FROM revivals ORDER BY next_id, need_id LIMIT 1',
    ).get();
    if (next === undefined) return false;
    const { need_id: need, next_id: jobId } = next;
    const cost = ROWS_EACH + needCount(tx, jobId);
    if (cost > left) return true;
    left -= cost;
    if (hasEndedAgain(tx, need)) {
      statement(tx.db, 'DELETE FROM revivals WHERE need_id = ?').run(need);
      continue;
    }
    if (bringBack(tx, jobId, need)) reviveDependentsOf(tx, jobId);
    advance(tx, need, jobId);
  }
}

/** Dependents are still to be brought back. */
export function anyRevival(tx: Tx): boolean {
  return statement(tx.db, 'SELECT 1 FROM revivals LIMIT 1').get() !== undefined;
}

/** Note the next dependent after `after`, or that there is none. */
function advance(tx: Tx, need: number, after: number): void {
  const next = statement<{ job_id: number }>(
    tx.db,
    `SELECT n.job_id FROM job_needs n JOIN job_outcomes o ON o.job_id = n.job_id
     WHERE n.need_id = ? AND n.job_id > ? AND o.settled_by = n.need_id ORDER BY n.job_id LIMIT 1`,
  ).get(need, after);
  if (next === undefined) statement(tx.db, 'DELETE FROM revivals WHERE need_id = ?').run(need);
  else {
    const sql =
      'INSERT INTO revivals (need_id, next_id) VALUES (?, ?) ON CONFLICT DO UPDATE SET next_id = excluded.next_id';
    statement(tx.db, sql).run(need, next.job_id);
  }
}

/** It came back and failed once more before its dependents were back: then they stay as they are. */
function hasEndedAgain(tx: Tx, need: number): boolean {
  const state = outcomeState(tx, standIn(tx, need));
  return state === 'dead' || state === 'canceled';
}

/** False: it stays ended, or somebody else was faster. */
function bringBack(tx: Tx, jobId: number, need: number): boolean {
  const ended = endedJob(tx, jobId);
  if (ended === undefined || standIn(tx, jobId) !== jobId) return false;
  try {
    const needs = needsNow(tx, ended, (id) => standIn(tx, id));
    const same = needs.every(({ id }) => isNeed(tx, jobId, id));
    if (ended.state === 'dead' && same) revive(tx, ended, need);
    else rerunWith(tx, ended, needs, need);
    return true;
  } catch (error) {
    if (!(error instanceof LanewayError)) throw error;
    return false;
  }
}

function isNeed(tx: Tx, jobId: number, need: number): boolean {
  return statement(tx.db, 'SELECT 1 FROM job_needs WHERE job_id = ? AND need_id = ?').get(jobId, need) !== undefined;
}

/** A new job in the place of one that stays ended. Its key is not taken along, but what has it by now is its successor. */
function rerunWith(tx: Tx, ended: EndedJob, needs: NeedNow[], withNeed: number): void {
  refuseLeaving(tx, ended.job_id);
  refuseTakenKey(tx, ended);
  const copied = copyOf(tx, ended.job_id);
  const once = new Map<number, NeedNow>();
  for (const { id, satisfied } of needs)
    once.set(id, { id, satisfied: satisfied && once.get(id)?.satisfied !== false });
  ensureLane(tx, copied.lane);
  insertJobs(tx, [
    {
      ...copied,
      id: nextJobId(tx),
      key: null,
      rerun_of: ended.job_id,
      withNeed,
      next_run_at: nextStamp(tx),
      due: 1,
      needs: [...once.values()],
      settled: false,
    },
  ]);
  refreshHead(tx, copied.lane);
}

/** The newest rerun that took this job's place: one with needs, where `lane rerun` gives none. Else the job itself. */
function standIn(tx: Tx, jobId: number): number {
  const rerun = statement<{ id: number }>(
    tx.db,
    `SELECT id FROM jobs WHERE rerun_of = ? AND EXISTS (SELECT 1 FROM job_needs WHERE job_id = id)
     ORDER BY id DESC LIMIT 1`,
  ).get(jobId);
  return rerun?.id ?? jobId;
}
