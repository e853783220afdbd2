/**
 * prune: terminal jobs lose their rows in steps small enough that no claim waits 50 ms for one.
 *
 * A step ends at the first of three bounds: jobs deleted, rows deleted, jobs looked at and kept.
 * A job with more rows than a step may delete (thousands of attempts) is taken apart over several,
 * newest attempts first, and its `pruned` event stands from the first of them on: the rest of its
 * history is then no longer whole, and `doctor` takes it so.
 *
 * Rows go first; the files they named stand in `pruned_files` until they are confirmed deleted, so
 * a crash between the two leaves no file behind.
 */
import type { StateFilter, TerminalState } from '../../../shared/job.ts';
import type { Tx } from '../api.ts';
import { logBytes } from '../queries/counts.ts';
import { bytesOf, ENDED, isKept, isLeaving, terminalStates } from '../queries/retention.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';

/** Rows that one step deletes: 40 usual jobs, measured at 15 ms beside a million others. */
const MAX_ROWS = 300;
/** Jobs that one step passes over because they stay: each costs a few probes. */
const MAX_LOOKED_AT = 5000;
const PAGE = 100;
const START = { finished_at: Number.MIN_SAFE_INTEGER, id: 0 };

interface Ended {
  id: number;
  finished_at: number;
}

interface Step {
  ids: number[];
  files: Set<string>;
  bytes: number;
  /** Rows this step may still delete. */
  rows: number;
  /** Jobs it may still look at. */
  looks: number;
}

/**
 * One step. Takes jobs of `states` that ended before `before`, and with `overBytes` also the oldest
 * while the logs kept are more bytes than that. What live jobs need is kept.
 * @returns the jobs that are gone, the files to delete and their bytes, and whether to call again
 * @throws INVALID_INPUT when `states` names no terminal state
 */
export function prune(
  tx: Tx,
  args: { before: number; states: StateFilter[]; maxJobs: number; overBytes: number | null },
): { ids: number[]; files: string[]; bytes: number; more: boolean } {
  const step: Step = { ids: [], files: new Set(), bytes: 0, rows: MAX_ROWS, looks: MAX_LOOKED_AT };
  const states = terminalStates(args.states);
  const more =
    byAge(tx, step, states, args.before, args.maxJobs) ||
    (args.overBytes !== null && bySize(tx, step, states, args.overBytes, args.maxJobs));
  return { ids: step.ids, files: [...step.files], bytes: step.bytes, more };
}

function isSpent(step: Step, maxJobs: number): boolean {
  return step.ids.length >= maxJobs || step.rows <= 0 || step.looks <= 0;
}

/** True when there is more to do than this step could. */
function byAge(tx: Tx, step: Step, states: TerminalState[], before: number, maxJobs: number): boolean {
  for (const state of states) {
    for (const job of oldest(tx, step, { state, before, freeing: false })) {
      if (isSpent(step, maxJobs)) return true;
      take(tx, step, job);
    }
    if (isSpent(step, maxJobs)) return true;
  }
  return false;
}

/** The oldest of all states first, until the logs fit. Jobs whose logs hold nothing are left to their age. */
function bySize(tx: Tx, step: Step, states: TerminalState[], limit: number, maxJobs: number): boolean {
  if (logBytes(tx) <= limit) return false;
  const heads = states
    .map((state) => oldest(tx, step, { state, before: Number.MAX_SAFE_INTEGER, freeing: true }))
    .map((jobs) => ({
      jobs,
      next: jobs.next(),
    }));
  while (logBytes(tx) > limit) {
    if (isSpent(step, maxJobs)) return true;
    const first = heads.filter(({ next }) => !next.done).sort((a, b) => compare(a.next.value, b.next.value))[0];
    if (first === undefined) return step.looks <= 0;
    if (!first.next.done) take(tx, step, first.next.value);
    first.next = first.jobs.next();
  }
  return false;
}

function compare(a: Ended | undefined, b: Ended | undefined): number {
  if (a === undefined || b === undefined) return 0;
  return a.finished_at - b.finished_at || a.id - b.id;
}

interface Range {
  state: TerminalState;
  before: number;
  /** Only jobs that free bytes. */
  freeing: boolean;
}

/**
 * Jobs of a state that ended before a time and may go, the oldest first. A step that passed over all
 * it may notes where it stands, so that the next goes on from there; the note is a shortcut only,
 * and goes when the end is reached.
 */
function* oldest(tx: Tx, step: Step, { state, before, freeing }: Range): Generator<Ended, undefined> {
  const note = `prune.${freeing ? 'size' : 'age'}.${state}`;
  const noted = notedPlace(tx, note);
  let place = noted ?? START;
  for (;;) {
    const page = statement<Ended>(tx.db, ENDED).all(state, before, place.finished_at, place.id, PAGE);
    for (const job of page) {
      if (!isKept(tx, job.id) && (!freeing || bytesOf(tx, job.id) > 0 || isLeaving(tx, job.id))) {
        yield job;
        continue;
      }
      step.looks -= 1;
      if (step.looks > 0) continue;
      notePlace(tx, note, job);
      return undefined;
    }
    const last = page.at(-1);
    if (last === undefined) break;
    place = last;
  }
  if (noted !== null) notePlace(tx, note, null);
  return undefined;
}

function notedPlace(tx: Tx, note: string): Ended | null {
  const row = statement<{ value: string }>(tx.db, 'SELECT value FROM meta WHERE key = ?').get(note);
  return row === undefined ? null : (JSON.parse(row.value) as Ended);
}

function notePlace(tx: Tx, note: string, place: Ended | null): void {
  if (place === null) {
    statement(tx.db, 'DELETE FROM meta WHERE key = ?').run(note);
    return;
  }
  const sql = 'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value';
  statement(tx.db, sql).run(note, JSON.stringify({ finished_at: place.finished_at, id: place.id }));
}

interface AttemptFiles {
  number: number;
  stdout_path: string | null;
  stderr_path: string | null;
  stdout_bytes: number | null;
  stderr_bytes: number | null;
}

/** Delete one job's rows, or as many as the step may. */
function take(tx: Tx, step: Step, job: Ended): void {
  if (!isLeaving(tx, job.id)) {
    record(tx, 'pruned', { jobId: job.id }, {});
    step.rows -= 1;
  }
  takeAttempts(tx, step, job.id);
  step.rows -= statement(
    tx.db,
    `DELETE FROM job_events WHERE id IN (
       SELECT id FROM job_events WHERE job_id = ? AND event_type <> 'pruned' ORDER BY id DESC LIMIT ?)`,
  ).run(job.id, Math.max(0, step.rows)).changes;
  for (const table of ['checkpoints', 'job_needs']) {
    const key = table === 'checkpoints' ? 'name' : 'need_id';
    const sql = `DELETE FROM ${table} WHERE job_id = ? AND ${key} IN (SELECT ${key} FROM ${table} WHERE job_id = ? LIMIT ?)`;
    step.rows -= statement(tx.db, sql).run(job.id, job.id, Math.max(0, step.rows)).changes;
  }
  // With the last row of the budget it may just be whole; the next step finds that out.
  if (step.rows <= 0) return;
  // Nothing live waits for it, so there is nothing left to settle.
  statement(tx.db, 'DELETE FROM settlements WHERE job_id = ?').run(job.id);
  statement(tx.db, 'DELETE FROM job_outcomes WHERE job_id = ?').run(job.id);
  statement(tx.db, 'DELETE FROM jobs WHERE id = ?').run(job.id);
  step.rows -= 2;
  step.ids.push(job.id);
}

function takeAttempts(tx: Tx, step: Step, jobId: number): void {
  const rows = statement<AttemptFiles>(
    tx.db,
    `SELECT number, stdout_path, stderr_path, stdout_bytes, stderr_bytes FROM attempts
     WHERE job_id = ? ORDER BY number DESC LIMIT ?`,
  ).all(jobId, Math.max(0, Math.ceil(step.rows / 3)));
  for (const row of rows) {
    const files = new Set([row.stdout_path, row.stderr_path].filter((file) => file !== null));
    for (const file of files) {
      statement(tx.db, 'INSERT INTO pruned_files (path) VALUES (?) ON CONFLICT DO NOTHING').run(file);
      step.files.add(file);
    }
    const isSplit = row.stderr_path !== row.stdout_path;
    step.bytes += (row.stdout_bytes ?? 0) + (isSplit ? (row.stderr_bytes ?? 0) : 0);
    statement(tx.db, 'DELETE FROM attempts WHERE job_id = ? AND number = ?').run(jobId, row.number);
    step.rows -= 1 + files.size;
  }
}

/** The files of pruned jobs are gone from disk. */
export function prunedFiles(tx: Tx, files: string[]): void {
  const gone = statement(tx.db, 'DELETE FROM pruned_files WHERE path = ?');
  for (const file of files) gone.run(file);
}

/** Drop at most `maxRows` `pruned` events older than `before`, of jobs that are wholly gone. True: call again. */
export function pruneLedger(tx: Tx, before: number, maxRows: number): boolean {
  const sql = `DELETE FROM job_events WHERE id IN (
    SELECT id FROM job_events WHERE event_type = 'pruned' AND at < ?
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = job_events.job_id) ORDER BY at, id LIMIT ?)`;
  return statement(tx.db, sql).run(before, maxRows).changes === maxRows;
}
