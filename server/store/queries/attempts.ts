/** Attempts and finished stages of one job. */
import type { Attempt, Checkpoint } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { toAttempt } from '../rows.ts';
import type { AttemptRow } from '../rows.ts';
import { statement } from '../statements.ts';
import { iso } from '../waiting.ts';

const SELECT = `SELECT job_id, number, state, worker_id, fence, pid, started_at, finished_at, exit_code, signal, reason,
  error, stdout_path, stderr_path, stdout_bytes, stderr_bytes FROM attempts WHERE job_id = ?`;

/** All attempts, in the order of their numbers. */
export function attempts(r: Reader, jobId: number): Attempt[] {
  return statement<AttemptRow>(r.db, `${SELECT} ORDER BY number`).all(jobId).map(toAttempt);
}

/** One attempt; the newest for a null number. */
export function attempt(r: Reader, jobId: number, number: number | null): Attempt | null {
  const row =
    number === null
      ? statement<AttemptRow>(r.db, `${SELECT} ORDER BY number DESC LIMIT 1`).get(jobId)
      : statement<AttemptRow>(r.db, `${SELECT} AND number = ?`).get(jobId, number);
  return row === undefined ? null : toAttempt(row);
}

interface StageRow {
  name: string;
  attempt: number;
  at: number;
  bytes: number;
  kind: 'stage' | 'sleep';
  until: number | null;
}

/** Stages that ran to their end and durable sleeps, oldest first. A sleep that an ended job never slept is none. */
export function checkpoints(r: Reader, jobId: number): Checkpoint[] {
  const sql = `SELECT name, attempt, at, coalesce(length(stdout), 0) AS bytes, kind, until FROM checkpoints
    WHERE job_id = ? AND (kind = 'stage' OR slept = 1 OR EXISTS (SELECT 1 FROM job_runtime r WHERE r.job_id = checkpoints.job_id))
    ORDER BY at, name`;
  return statement<StageRow>(r.db, sql)
    .all(jobId)
    .map((row) => ({ ...row, at: iso(row.at), until: row.until === null ? null : iso(row.until) }));
}

/** The stored stdout of a stage; null when it has not run to its end. */
export function checkpointOutput(r: Reader, jobId: number, name: string): Uint8Array | null {
  const sql = `SELECT stdout FROM checkpoints WHERE job_id = ? AND name = ? AND kind = 'stage'`;
  return statement<{ stdout: Buffer }>(r.db, sql).get(jobId, name)?.stdout ?? null;
}
