/** Writing a new job: its identity, its place in the queue, its event. Shared by add and rerun. */
import { createHash } from 'node:crypto';
import type { NeedPolicy } from '../../../shared/job.ts';
import type { Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { type Details, record } from './events.ts';

/** The identity columns of `jobs`, in the order of the table. */
export interface NewJob {
  lane: string;
  argv: string;
  cwd: string;
  label: string | null;
  tags: string;
  max_retries: number;
  max_crashes: number;
  retry_delay_ms: number;
  retry_max_delay_ms: number;
  timeout_ms: number | null;
  cancel_grace_ms: number;
  split: number;
  key: string | null;
  on_need_failure: NeedPolicy;
  rerun_of: number | null;
  environment_id: number;
  env: string;
  umask: number;
}

/** Where a new job stands. */
export interface Placement {
  state: 'blocked' | 'queued';
  priority: number;
  nextRunAt: number;
  due: boolean;
  needsLeft: number;
}

const INSERT_JOB = `INSERT INTO jobs (lane, argv, cwd, label, tags, max_retries, max_crashes, retry_delay_ms,
  retry_max_delay_ms, timeout_ms, cancel_grace_ms, split, key, on_need_failure, rerun_of, environment_id, env, umask,
  created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const INSERT_RUNTIME = `INSERT INTO job_runtime (job_id, state, lane, key, priority, next_run_at, due, needs_left)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** Writes the job and returns its id. The lane's head is the caller's to refresh, once per lane. */
export function insertJob(
  tx: Tx,
  job: NewJob,
  place: Placement,
  detail: Omit<Details['added'], 'state' | 'lane' | 'priority'>,
): number {
  const id = Number(
    statement(tx.db, INSERT_JOB).run(
      job.lane,
      job.argv,
      job.cwd,
      job.label,
      job.tags,
      job.max_retries,
      job.max_crashes,
      job.retry_delay_ms,
      job.retry_max_delay_ms,
      job.timeout_ms,
      job.cancel_grace_ms,
      job.split,
      job.key,
      job.on_need_failure,
      job.rerun_of,
      job.environment_id,
      job.env,
      job.umask,
      tx.now,
    ).lastInsertRowid,
  );
  statement(tx.db, INSERT_RUNTIME).run(
    id,
    place.state,
    job.lane,
    job.key,
    place.priority,
    place.nextRunAt,
    place.due ? 1 : 0,
    place.needsLeft,
  );
  record(tx, 'added', { jobId: id }, { state: place.state, lane: job.lane, priority: place.priority, ...detail });
  return id;
}

/** The id of an environment's snapshot, stored once however many jobs share it. */
export function snapshotEnvironment(tx: Tx, env: Record<string, string>): number {
  // Sorted, so that the same variables in another order are the same snapshot.
  const content = JSON.stringify(Object.fromEntries(Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))));
  const digest = createHash('sha256').update(content).digest('hex');
  const select = statement<{ id: number }>(tx.db, 'SELECT id FROM environments WHERE digest = ?');
  const found = select.get(digest);
  if (found !== undefined) return found.id;
  return Number(
    statement(tx.db, 'INSERT INTO environments (digest, content) VALUES (?, ?)').run(digest, content).lastInsertRowid,
  );
}
