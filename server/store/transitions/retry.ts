/**
 * retry: a person's wish that a job runs again, with fresh budgets. A dead job comes back to life; one
 * that waits for its next try goes at once; a running one, with force, is cancelled and then requeued.
 * Attempt numbers go on.
 */
import { LanewayError } from '../../../shared/errors.ts';
import type { JobState, NeedPolicy } from '../../../shared/job.ts';
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { JobResult, Selection } from '../../../shared/protocol.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Tx } from '../api.ts';
import { select } from '../queries/list.ts';
import { isLeaving } from '../queries/retention.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { ensureLane, nextStamp, refreshHead } from './heads.ts';
import { liveRow, type LiveRow } from './live.ts';
import { conflict, tryJob } from './results.ts';

/** Rows that one job costs: outcome, live row, event, lane, a few needs. */
const STEP = MAX_TRANSITION_ROWS / 8;

/**
 * Retries the first jobs of the selection, as many as one transaction may touch; `more` as in cancel.
 * `withDependents` also revives, in the same transaction, what the death of a job had settled.
 */
export function retry(
  tx: Tx,
  args: { selection: Selection; force: boolean; withDependents: boolean },
): { results: JobResult[]; more: boolean } {
  const refs = args.selection.ids ?? select(tx, args.selection, STEP + 1);
  const results = refs.slice(0, STEP).map((ref) => tryJob(tx, ref, {}, (id) => retryOne(tx, id, args)));
  return { results, more: refs.length > STEP };
}

function retryOne(
  tx: Tx,
  jobId: number,
  { force, withDependents }: { force: boolean; withDependents: boolean },
): object {
  const row = liveRow(tx, jobId);
  if (row === undefined) {
    const ended = endedJob(tx, jobId);
    if (ended.state !== 'dead') {
      throw conflict(
        `job ${jobId} is ${ended.state}; only a dead job is retried`,
        `Run it again as a new job: lane rerun ${jobId}`,
      );
    }
    revive(tx, ended, null);
    if (withDependents) reviveDependents(tx, jobId);
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

interface EndedJob {
  job_id: number;
  state: JobState;
  lane: string;
  priority: number;
  attempts: number;
  fence: number;
  key: string | null;
  on_need_failure: NeedPolicy;
}

function endedJob(tx: Tx, jobId: number): EndedJob {
  const row = statement<EndedJob>(
    tx.db,
    `SELECT o.job_id, o.state, o.lane, o.priority, o.attempts, o.fence, j.key, j.on_need_failure
     FROM job_outcomes o JOIN jobs j ON j.id = o.job_id WHERE o.job_id = ?`,
  ).get(jobId);
  if (row === undefined) throw new LanewayError('NOT_FOUND', `job ${jobId} does not exist`, null);
  return row;
}

/**
 * Back from its outcome into the queue. Throws, with nothing written, when its key or its needs stand against it,
 * or when pruning has begun to take it apart: what came back would be a job with half a history.
 */
function revive(tx: Tx, ended: EndedJob, withNeed: number | null): void {
  const { job_id: jobId, lane } = ended;
  if (isLeaving(tx, jobId)) {
    throw conflict(`job ${jobId} is being pruned`, `Run it again as a new job: lane rerun ${jobId}`);
  }
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

function refuseTakenKey(tx: Tx, { job_id: jobId, key }: EndedJob): void {
  if (key === null) return;
  const holder = statement<{ job_id: number }>(tx.db, 'SELECT job_id FROM job_runtime WHERE key = ?').get(key);
  if (holder === undefined) return;
  throw new LanewayError(
    'KEY_CONFLICT',
    `job ${jobId} cannot be retried: job ${holder.job_id}, which is not finished, has its key ${quoteValue(key)}`,
    `Wait for job ${holder.job_id} or cancel it first`,
  );
}

interface NeedNow {
  id: number;
  satisfied: boolean;
}

/**
 * Its prerequisites as they stand now. One that is dead may yet be retried, so it is waited for; one
 * that was canceled, or pruned after it had not been done, never will be done.
 */
function needsNow(tx: Tx, { job_id: jobId, on_need_failure: policy }: EndedJob): NeedNow[] {
  const rows = statement<{ need_id: number; satisfied: number; live: number; outcome: string | null }>(
    tx.db,
    `SELECT need_id, satisfied, EXISTS (SELECT 1 FROM job_runtime WHERE job_id = need_id) AS live,
       (SELECT state FROM job_outcomes WHERE job_id = need_id) AS outcome
     FROM job_needs WHERE job_id = ? ORDER BY need_id`,
  ).all(jobId);
  return rows.map(({ need_id: id, satisfied, live, outcome }) => {
    if (live === 1) return { id, satisfied: false };
    if (outcome === 'done' || policy === 'release') return { id, satisfied: true };
    if (outcome === 'dead' && !isLeaving(tx, id)) return { id, satisfied: false };
    if (outcome === null && satisfied === 1) return { id, satisfied: true };
    const how = outcome === null || outcome === 'dead' ? 'pruned without having been done' : 'canceled';
    throw conflict(
      `job ${jobId} cannot be retried: job ${id}, which it needs, was ${how}`,
      `Run it without its needs, as a new job: lane rerun ${jobId}`,
    );
  });
}

/** Revive what this job's death had settled, and what that had settled in turn. What cannot be revived stays ended. */
function reviveDependents(tx: Tx, need: number): void {
  const work = [need];
  for (let by = work.pop(); by !== undefined; by = work.pop()) {
    const settled = statement<{ job_id: number }>(
      tx.db,
      `SELECT n.job_id FROM job_needs n JOIN job_outcomes o ON o.job_id = n.job_id AND o.settled_by = n.need_id
       WHERE n.need_id = ? ORDER BY n.job_id`,
    ).all(by);
    for (const { job_id: jobId } of settled) {
      try {
        revive(tx, endedJob(tx, jobId), by);
        work.push(jobId);
      } catch (error) {
        if (!(error instanceof LanewayError)) throw error;
      }
    }
  }
}
