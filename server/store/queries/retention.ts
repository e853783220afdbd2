/** What retention reads: what could be pruned, and which files of pruned jobs are still on disk. */
import { LanewayError } from '../../../shared/errors.ts';
import type { StateFilter, TerminalState } from '../../../shared/job.ts';
import { TERMINAL_STATES } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { leavesOf } from './filters.ts';

/** Ended jobs of one state after a place in the order of their ends. A range of `outcomes_age`. */
export const ENDED = `
SELECT job_id AS id, finished_at FROM job_outcomes
WHERE state = ? AND finished_at < ? AND (finished_at, job_id) > (?, ?)
ORDER BY finished_at, job_id LIMIT ?`;

/**
 * A live job names it as a need. The subquery is scalar on purpose: with EXISTS or a join SQLite
 * opens both tables for each look, which costs ten times as much where most jobs are no need.
 */
const IS_KEPT = `
SELECT 1 FROM job_needs n
WHERE n.need_id = ? AND (SELECT 1 FROM job_runtime r WHERE r.job_id = n.job_id) LIMIT 1`;

/** Bytes of the files of one job's attempts; a file that both streams share counts once. */
const BYTES_OF_JOB = `
SELECT coalesce(sum(coalesce(stdout_bytes, 0)
  + (stderr_path IS NOT stdout_path) * coalesce(stderr_bytes, 0)), 0) AS bytes
FROM attempts WHERE job_id = ?`;

/**
 * The terminal states that a filter names.
 * @throws LanewayError INVALID_INPUT when it names none
 */
export function terminalStates(states: readonly StateFilter[]): TerminalState[] {
  const leaves = leavesOf(states);
  const terminal = TERMINAL_STATES.filter((state) => leaves === null || leaves.has(state));
  if (terminal.length > 0) return terminal;
  throw new LanewayError(
    'INVALID_INPUT',
    `only jobs that have ended can be pruned, and ${states.join(', ')} names none of them`,
    `Name some of: ${TERMINAL_STATES.join(', ')}.`,
  );
}

export function isKept(r: Reader, jobId: number): boolean {
  return statement(r.db, IS_KEPT).get(jobId) !== undefined;
}

/** Pruning began to take it apart: its history is no longer whole, and the rest of it goes too. */
export function isLeaving(r: Reader, jobId: number): boolean {
  const newest = 'SELECT event_type AS type FROM job_events WHERE job_id = ? ORDER BY id DESC LIMIT 1';
  return statement<{ type: string }>(r.db, newest).get(jobId)?.type === 'pruned';
}

export function bytesOf(r: Reader, jobId: number): number {
  return statement<{ bytes: number }>(r.db, BYTES_OF_JOB).get(jobId)?.bytes ?? 0;
}

/**
 * What `prune` by age would delete: one page of at most `limit` jobs looked at; add up the pages.
 * @throws LanewayError INVALID_INPUT
 */
export function prunable(
  r: Reader,
  { before, states, limit, cursor }: { before: number; states: StateFilter[]; limit: number; cursor: string | null },
): { jobs: number; bytes: number; nextCursor: string | null } {
  const wanted = terminalStates(states);
  const [index = 0, finishedAt = Number.MIN_SAFE_INTEGER, id = 0] = decodeCursor('prunable', 3, cursor) ?? [];
  const state = wanted[index];
  if (state === undefined) return { jobs: 0, bytes: 0, nextCursor: null };
  const rows = statement<{ id: number; finished_at: number }>(r.db, ENDED).all(state, before, finishedAt, id, limit);
  const ids = rows.map((row) => row.id).filter((job) => !isKept(r, job));
  const last = rows.at(-1);
  const next =
    rows.length === limit && last ? [index, last.finished_at, last.id] : [index + 1, Number.MIN_SAFE_INTEGER, 0];
  return {
    jobs: ids.length,
    bytes: ids.reduce((sum, job) => sum + bytesOf(r, job), 0),
    nextCursor: (next[0] ?? 0) < wanted.length ? encodeCursor('prunable', next) : null,
  };
}

/** Files of pruned jobs still to delete, as their attempts named them. */
export function filesToDelete(r: Reader, limit: number): string[] {
  const sql = 'SELECT path FROM pruned_files ORDER BY path LIMIT ?';
  return statement<{ path: string }>(r.db, sql)
    .all(limit)
    .map((row) => row.path);
}
