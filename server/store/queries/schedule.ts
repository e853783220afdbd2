/** What workers ask: what runs, whose it is, when to look again, whether anything is left. */
import type { Reader, Registration, RunningAttempt } from '../api.ts';
import { statement } from '../statements.ts';

/** Delayed jobs of unusable lanes that one look passes over; then it answers early, and looks again. */
const PASSED_OVER = 1000;

const NEXT_DUE = `SELECT next_run_at, lane FROM job_runtime WHERE state = 'queued' AND due = 0
ORDER BY next_run_at, job_id LIMIT ?`;

/**
 * Due time of the next delayed job in a lane of these that is not paused, milliseconds since the
 * epoch; null: none. Where more than a thousand delayed jobs of other lanes come first it is the
 * time of the last of those: looking again early harms nothing, looking through all of them would.
 */
export function nextDue(r: Reader, lanes: string[] | null): number | null {
  const paused = new Set(
    statement<{ name: string }>(r.db, 'SELECT name FROM lanes WHERE paused = 1')
      .all()
      .map((row) => row.name),
  );
  const serves = lanes === null ? null : new Set(lanes);
  let looked = 0;
  let last: number | null = null;
  for (const row of statement<{ next_run_at: number; lane: string }>(r.db, NEXT_DUE).iterate(PASSED_OVER)) {
    if (!paused.has(row.lane) && (serves?.has(row.lane) ?? true)) return row.next_run_at;
    looked += 1;
    last = row.next_run_at;
  }
  return looked === PASSED_OVER ? last : null;
}

/** The plus: in the order of ids the planner would read every live job to find the running few. */
const RUNNING = `
SELECT r.job_id AS jobId, r.attempts AS attempt, r.worker_id AS workerId, r.fence, a.host, a.boot_id AS bootId,
  a.pid_namespace AS pidNamespace, a.pid, a.pid_start AS pidStartTime, j.cancel_grace_ms AS cancelGraceMs
FROM job_runtime r
JOIN attempts a ON a.job_id = r.job_id AND a.number = r.attempts
JOIN jobs j ON j.id = r.job_id
WHERE r.state = 'running' ORDER BY +r.job_id`;

/** Every attempt that runs, in job order. Host, boot and namespace are the process's. */
export function runningAttempts(r: Reader): RunningAttempt[] {
  return statement<RunningAttempt>(r.db, RUNNING).all();
}

const REGISTRATIONS = `SELECT id, host, boot_id AS bootId, pid_namespace AS pidNamespace, pid, pid_start AS startTime,
  heartbeats FROM workers ORDER BY id`;

/** Every registered worker as it registered, with its pulse; those that were killed included. */
export function registrations(r: Reader): Registration[] {
  return statement<Registration>(r.db, REGISTRATIONS).all();
}

const OWNED = `SELECT job_id, attempts AS attempt, fence, cancel_requested_at FROM job_runtime
WHERE state = 'running' AND worker_id = ? ORDER BY job_id`;

/** Every running job this worker owns now, in job order. */
export function ownedState(
  r: Reader,
  workerId: string,
): { jobId: number; attempt: number; fence: number; cancelRequested: boolean }[] {
  return statement<{ job_id: number; attempt: number; fence: number; cancel_requested_at: number | null }>(r.db, OWNED)
    .all(workerId)
    .map((row) => ({
      jobId: row.job_id,
      attempt: row.attempt,
      fence: row.fence,
      cancelRequested: row.cancel_requested_at !== null,
    }));
}

/** Something is blocked, queued or running. */
export function anyLive(r: Reader): boolean {
  return statement(r.db, 'SELECT 1 FROM job_runtime LIMIT 1').get() !== undefined;
}

const BUSY_LANES = `SELECT name, paused, running, queued - delayed AS due FROM lanes
WHERE running > 0 OR (queued > 0 AND paused = 0)`;
/** Backing off, or its time has come since a claim last looked. */
const SOON = `SELECT 1 FROM job_runtime WHERE state || due || backing_off = 'queued01' AND lane = ?
UNION ALL SELECT 1 FROM job_runtime WHERE state = 'queued' AND due = 0 AND next_run_at <= ? AND lane = ? LIMIT 1`;

/**
 * True while a worker of these lanes (null: all) has something to stay for: a job runs there, or one
 * is due or backing off in a lane that is not paused. What merely waits for a later time is none.
 */
export function drainable(r: Reader, lanes: string[] | null): boolean {
  const rows = statement<{ name: string; paused: number; running: number; due: number }>(r.db, BUSY_LANES).all();
  return rows
    .filter((row) => lanes === null || lanes.includes(row.name))
    .some(
      (row) => row.running > 0 || row.due > 0 || statement(r.db, SOON).get(row.name, r.now, row.name) !== undefined,
    );
}
