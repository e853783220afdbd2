/** bump: another priority for a waiting job, or its delay cut short. Nothing else of a job can be edited. */
import { MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { JobRef, JobResult } from '../../../shared/protocol.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { nextStamp, refreshHead } from './heads.ts';
import { liveRow } from './live.ts';
import { conflict, stateOf, tryJob } from './results.ts';

/** Rows that one job costs: live row, event, lane. */
const STEP = Math.floor(MAX_TRANSITION_ROWS / 3);

/** The first of the jobs, as many as one transaction may touch; `more` as in cancel. */
export function bump(
  tx: Tx,
  { jobs, priority, now }: { jobs: JobRef[]; priority: number | null; now: boolean },
): { results: JobResult[]; more: boolean } {
  const results = jobs.slice(0, STEP).map((ref) => tryJob(tx, ref, {}, (id) => bumpOne(tx, id, priority, now)));
  return { results, more: jobs.length > STEP };
}

function bumpOne(tx: Tx, jobId: number, priority: number | null, now: boolean): object {
  const row = liveRow(tx, jobId);
  if (row === undefined || row.state === 'running') {
    throw conflict(
      `job ${jobId} is ${stateOf(tx, jobId) ?? 'gone'}; only a job that waits can be moved`,
      `To run it again: lane rerun ${jobId}`,
    );
  }
  const prioritized = priority !== null && priority !== row.priority;
  const hastened = now && row.due === 0;
  if (!prioritized && !hastened) return {};
  statement(
    tx.db,
    'UPDATE job_runtime SET priority = ?, due = ?, backing_off = ?, next_run_at = ? WHERE job_id = ?',
  ).run(
    priority ?? row.priority,
    hastened ? 1 : row.due,
    hastened ? 0 : row.backing_off,
    hastened ? nextStamp(tx) : row.next_run_at,
    jobId,
  );
  if (row.state === 'queued') refreshHead(tx, row.lane);
  record(
    tx,
    'rescheduled',
    { jobId },
    { ...(prioritized ? { priority, from: row.priority } : null), ...(hastened ? { now: true } : null) },
  );
  return {};
}
