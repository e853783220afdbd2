/**
 * How much there is: kept by triggers, so that a status costs the same beside a million done jobs.
 * Only delayed jobs whose time came since a claim last looked are counted here, from the index of
 * the delayed: a claim moves them out of it within milliseconds.
 */
import type { Counts, Lane, Worker } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { toLane, toWorker } from '../rows.ts';
import type { LaneRow, WorkerRow } from '../rows.ts';
import { statement } from '../statements.ts';

const COUNTERS = 'SELECT name, n FROM counters';
const CAME_DUE = `
SELECT count(*) AS n, coalesce(sum(backing_off), 0) AS backing_off FROM job_runtime
WHERE state = 'queued' AND due = 0 AND next_run_at <= ?`;
const CAME_DUE_BY_LANE = `
SELECT lane, count(*) AS n FROM job_runtime WHERE state = 'queued' AND due = 0 AND next_run_at <= ? GROUP BY lane`;

/** Jobs by state, and the delayed (`scheduled`) and backing off (`retrying`) among the queued. */
export function counts(r: Reader): { counts: Counts; scheduled: number; retrying: number } {
  const rows = statement<{ name: string; n: number }>(r.db, COUNTERS).all();
  const kept = new Map(rows.map((row) => [row.name, row.n]));
  const of = (name: string): number => kept.get(name) ?? 0;
  const came = statement<{ n: number; backing_off: number }>(r.db, CAME_DUE).get(r.now);
  return {
    counts: {
      blocked: of('blocked'),
      queued: of('queued'),
      running: of('running'),
      done: of('done'),
      failed: 0,
      dead: of('dead'),
      canceled: of('canceled'),
    },
    scheduled: of('delayed') - (came?.n ?? 0),
    retrying: of('backing_off') - (came?.backing_off ?? 0),
  };
}

const LANE = `SELECT name, slots, paused, pause_on_failure, timeout_ms, cancel_grace_ms, max_retries, retry_delay_ms,
  retry_max_delay_ms, running, queued, delayed, blocked FROM lanes`;

/** Every lane, by name. */
export function lanes(r: Reader): Lane[] {
  const came = cameDue(r);
  return statement<LaneRow>(r.db, `${LANE} ORDER BY name`)
    .all()
    .map((row) => toLane(row, came.get(row.name) ?? 0));
}

export function lane(r: Reader, name: string): Lane | null {
  const row = statement<LaneRow>(r.db, `${LANE} WHERE name = ?`).get(name);
  return row === undefined ? null : toLane(row, cameDue(r).get(name) ?? 0);
}

function cameDue(r: Reader): Map<string, number> {
  const rows = statement<{ lane: string; n: number }>(r.db, CAME_DUE_BY_LANE).all(r.now);
  return new Map(rows.map((row) => [row.lane, row.n]));
}

const WORKERS = `SELECT w.id, w.kind, w.pid, w.lanes, w.slots, w.concurrency, w.started_at, w.heartbeat_at, w.schema,
  (SELECT count(*) FROM job_runtime r WHERE r.state = 'running' AND r.worker_id = w.id) AS running
  FROM workers w ORDER BY w.started_at, w.id`;

/** Every registered worker, the oldest first; one that was killed stands here until it is reaped. */
export function workers(r: Reader): Worker[] {
  return statement<WorkerRow>(r.db, WORKERS).all().map(toWorker);
}

/** Bytes of logs the rows know of: those of attempts that have ended. */
export function logBytes(r: Reader): number {
  return statement<{ n: number }>(r.db, `SELECT n FROM counters WHERE name = 'log_bytes'`).get()?.n ?? 0;
}
