/**
 * Jobs by id. A page costs a fixed number of statements whatever its length: the ids go in as one
 * JSON array, and needs, environments, lanes and workers are gathered once for all of them.
 */
import type { Job } from '../../../shared/job.ts';
import { LEASE_MS, MAX_LIST } from '../../../shared/limits.ts';
import type { Reader } from '../api.ts';
import { toJob } from '../rows.ts';
import type { JobContext, JobRow } from '../rows.ts';
import { statement } from '../statements.ts';
import type { LaneSituation, WorkerSituation } from '../waiting.ts';
import { envNames } from './environments.ts';

const JOBS_BY_ID = `
SELECT j.id, j.lane, j.argv, j.cwd, j.label, j.tags, j.max_retries, j.max_crashes, j.retry_delay_ms,
  j.retry_max_delay_ms, j.timeout_ms, j.cancel_grace_ms, j.split, j.key, j.on_need_failure, j.rerun_of,
  j.environment_id, j.env, j.created_at,
  coalesce(r.state, o.state) AS state,
  coalesce(r.priority, o.priority) AS priority,
  coalesce(r.attempts, o.attempts) AS attempts,
  coalesce(r.failures, o.failures) AS failures,
  coalesce(r.crashes, o.crashes) AS crashes,
  r.next_run_at, r.due, r.backing_off, r.worker_id, r.cancel_requested_at, o.reason, o.finished_at,
  a.started_at AS last_started_at, a.exit_code AS last_exit_code, a.signal AS last_signal, a.reason AS last_reason
FROM json_each(?) wanted
CROSS JOIN jobs j ON j.id = wanted.value
LEFT JOIN job_runtime r ON r.job_id = j.id
LEFT JOIN job_outcomes o ON o.job_id = j.id
LEFT JOIN attempts a ON a.job_id = j.id AND a.number = coalesce(r.attempts, o.attempts)`;

const NEEDS_BY_JOB = `
SELECT n.job_id, n.need_id, n.satisfied FROM json_each(?) wanted
CROSS JOIN job_needs n ON n.job_id = wanted.value ORDER BY n.job_id, n.need_id`;

const LANE_SITUATION = 'SELECT slots, paused, running FROM lanes WHERE name = ?';

const WORKER_SITUATIONS = `
SELECT w.lanes, w.slots, w.concurrency,
  (SELECT count(*) FROM job_runtime r WHERE r.state = 'running' AND r.worker_id = w.id) AS running
FROM workers w WHERE w.heartbeat_at > ?`;

export function job(r: Reader, id: number): Job | null {
  return jobs(r, [id])[0] ?? null;
}

/** In the order of `ids`; those that do not exist are left out. */
export function jobs(r: Reader, ids: number[]): Job[] {
  if (ids.length === 0) return [];
  const rows = statement<JobRow>(r.db, JOBS_BY_ID).all(JSON.stringify([...new Set(ids)]));
  const context = gather(r, rows);
  const byId = new Map(rows.map((row) => [row.id, toJob(row, context)]));
  return ids.map((id) => byId.get(id)).filter((found) => found !== undefined);
}

/** The prerequisites that still have rows, in id order. */
export function needs(r: Reader, jobId: number): Job[] {
  const sql = 'SELECT need_id AS id FROM job_needs WHERE job_id = ? ORDER BY need_id';
  return jobs(r, pluck(statement<{ id: number }>(r.db, sql).all(jobId)));
}

/** The first thousand jobs that named this one as a need, in id order. */
export function neededBy(r: Reader, jobId: number): Job[] {
  const sql = 'SELECT job_id AS id FROM job_needs WHERE need_id = ? ORDER BY job_id LIMIT ?';
  return jobs(r, pluck(statement<{ id: number }>(r.db, sql).all(jobId, MAX_LIST)));
}

function pluck(rows: readonly { id: number }[]): number[] {
  return rows.map((row) => row.id);
}

/** What the jobs of one page share; the situation of lanes and workers only when one of them waits. */
function gather(r: Reader, rows: readonly JobRow[]): JobContext {
  const waiting = rows.filter((row) => row.state === 'queued');
  return {
    now: r.now,
    needs: needsOf(
      r,
      rows.map((row) => row.id),
    ),
    envNames: envNames(r, new Set(rows.map((row) => row.environment_id))),
    lanes: laneSituations(r, new Set(waiting.map((row) => row.lane))),
    workers: waiting.length === 0 ? [] : workerSituations(r),
  };
}

function needsOf(r: Reader, ids: number[]): Map<number, { all: number[]; open: number[] }> {
  const found = new Map<number, { all: number[]; open: number[] }>();
  const rows = statement<{ job_id: number; need_id: number; satisfied: number }>(r.db, NEEDS_BY_JOB);
  for (const row of rows.iterate(JSON.stringify(ids))) {
    const entry = found.get(row.job_id) ?? { all: [], open: [] };
    entry.all.push(row.need_id);
    if (row.satisfied === 0) entry.open.push(row.need_id);
    found.set(row.job_id, entry);
  }
  return found;
}

function laneSituations(r: Reader, names: ReadonlySet<string>): Map<string, LaneSituation> {
  const lanes = new Map<string, LaneSituation>();
  const byName = statement<{ slots: number; paused: number; running: number }>(r.db, LANE_SITUATION);
  for (const name of names) {
    const row = byName.get(name);
    if (row !== undefined) lanes.set(name, { slots: row.slots, running: row.running, paused: row.paused === 1 });
  }
  return lanes;
}

/**
 * Workers whose heartbeat is within one lease of the clock: a killed one leaves its row until it
 * is reaped. Only for words; a reaper judges by ticks, never by this clock.
 */
function workerSituations(r: Reader): WorkerSituation[] {
  return statement<{ lanes: string | null; slots: number | null; concurrency: number; running: number }>(
    r.db,
    WORKER_SITUATIONS,
  )
    .all(r.now - LEASE_MS)
    .map((row) => ({
      lanes: row.lanes === null ? null : (JSON.parse(row.lanes) as string[]),
      slots: row.slots,
      concurrency: row.concurrency,
      running: row.running,
    }));
}
