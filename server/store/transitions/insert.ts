/**
 * Writing new jobs: identity, place in the queue, event. Shared by add and rerun.
 *
 * Many rows go into one statement: with triggers each statement keeps a journal of the pages it
 * touches, and 100 rows to a statement cost a third of 100 statements (measured, with 10,000 jobs).
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../api.ts';
import type { JobIdentity } from '../rows.ts';
import { statement } from '../statements.ts';
import { type Details, iso } from './events.ts';

/** A job to write: what it is, and where it stands. */
export interface NewJob extends JobIdentity {
  umask: number;
  priority: number;
  next_run_at: number;
  due: number;
  needs: { id: number; satisfied: boolean }[];
  /** It is settled in this very transaction: its key is free again for the next job. */
  settled: boolean;
  /** The need that brought it back, as a rerun of what that need's end had settled. */
  withNeed?: number;
}

const JOBS = `INSERT INTO jobs (id, lane, argv, cwd, label, tags, max_retries, max_crashes, retry_delay_ms,
  retry_max_delay_ms, timeout_ms, cancel_grace_ms, split, key, on_need_failure, rerun_of, environment_id, env, umask,
  created_at) VALUES `;
const RUNTIME = `INSERT INTO job_runtime (job_id, state, lane, key, priority, next_run_at, due, needs_left) VALUES `;
const EVENTS = `INSERT INTO job_events (job_id, event_type, at, detail) VALUES `;
const NEEDS = `INSERT INTO job_needs (job_id, need_id, satisfied) VALUES `;

/** The id that the next new job gets. Ids are never reused, also after the newest was pruned. */
export function nextJobId(tx: Tx): number {
  const row = statement<{ seq: number }>(tx.db, `SELECT seq FROM sqlite_sequence WHERE name = 'jobs'`).get();
  return (row?.seq ?? 0) + 1;
}

/** Writes jobs with their needs and `added` events. The heads of their lanes are the caller's to refresh. */
export function insertJobs(tx: Tx, jobs: NewJob[]): void {
  insertRows(tx, JOBS, jobs, (job) => [
    job.id,
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
  ]);
  insertRows(tx, RUNTIME, jobs, (job) => {
    const left = needsLeft(job);
    const key = job.settled ? null : job.key;
    return [job.id, left > 0 ? 'blocked' : 'queued', job.lane, key, job.priority, job.next_run_at, job.due, left];
  });
  insertRows(tx, EVENTS, jobs, (job) => [job.id, 'added', tx.now, JSON.stringify(addedDetail(job))]);
  const needs = jobs.flatMap((job) => job.needs.map((need) => ({ jobId: job.id, ...need })));
  insertRows(tx, NEEDS, needs, (need) => [need.jobId, need.id, need.satisfied ? 1 : 0]);
}

function needsLeft(job: NewJob): number {
  return job.needs.reduce((count, need) => count + (need.satisfied ? 0 : 1), 0);
}

function addedDetail(job: NewJob): Details['added'] {
  const detail: Details['added'] = {
    state: needsLeft(job) > 0 ? 'blocked' : 'queued',
    lane: job.lane,
    priority: job.priority,
  };
  if (job.due === 0) detail.nextRunAt = iso(job.next_run_at);
  if (job.needs.length > 0) detail.needs = job.needs.map((need) => need.id);
  if (job.rerun_of !== null) detail.rerunOf = job.rerun_of;
  if (job.withNeed !== undefined) detail.withNeed = job.withNeed;
  return detail;
}

/** Rows in one statement; what is over a multiple of it goes row by row. */
const ROWS = 100;

function insertRows<T>(tx: Tx, into: string, rows: T[], values: (row: T) => unknown[]): void {
  const whole = rows.length - (rows.length % ROWS);
  for (let at = 0; at < rows.length; at += at < whole ? ROWS : 1) {
    const part = rows.slice(at, at < whole ? at + ROWS : at + 1);
    const bound = part.flatMap(values);
    statement(tx.db, into + tuples(bound.length / part.length, part.length)).run(bound);
  }
}

function tuples(width: number, count: number): string {
  const tuple = `(${Array<string>(width).fill('?').join(', ')})`;
  return Array<string>(count).fill(tuple).join(', ');
}

/** The id of an environment's snapshot, stored once however many jobs share it. */
export function snapshotEnvironment(tx: Tx, env: Record<string, string>): number {
  // Sorted, so that the same variables in another order are the same snapshot.
  const content = JSON.stringify(Object.fromEntries(Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))));
  const digest = createHash('sha256').update(content).digest('hex');
  const found = statement<{ id: number }>(tx.db, 'SELECT id FROM environments WHERE digest = ?').get(digest);
  if (found !== undefined) return found.id;
  return Number(
    statement(tx.db, 'INSERT INTO environments (digest, content) VALUES (?, ?)').run(digest, content).lastInsertRowid,
  );
}
