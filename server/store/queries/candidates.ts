/**
 * Ids of jobs in id order, merged of one index scan per state and phase. Each scan is a run of a
 * covering index that ends after a page, so a page costs the same beside a million done jobs.
 */
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import type { Leaf } from './filters.ts';

/** A lane with fewer jobs is read whole; a larger one is dense enough to be met in the scan of a state. */
const SMALL_LANE = 5000;

export type Direction = 'ascending' | 'descending';

/** One ordered run of ids: SQL that takes `params`, then the id to go on after, then how many. */
interface Scan {
  sql: string;
  params: readonly unknown[];
}

/** Where ids come from, and which filters that already settles. */
export interface Candidates {
  scans: readonly Scan[];
  /** The jobs' states are as asked for. */
  settlesStates: boolean;
}

/** Which jobs to go through. At most one of `key` and `lane` narrows the scan; the caller filters by the rest. */
export interface Wanted {
  leaves: ReadonlySet<Leaf> | null;
  lane: string | null;
  key: string | null;
}

export function candidates(r: Reader, wanted: Wanted, direction: Direction): Candidates {
  if (wanted.key !== null) {
    return { scans: [scan('jobs', 'id', 'key = ?', [wanted.key], direction)], settlesStates: wanted.leaves === null };
  }
  if (wanted.lane !== null && (wanted.leaves === null || isSmall(r, wanted.lane))) {
    const lane = scan('jobs', 'id', 'lane = ?', [wanted.lane], direction);
    return { scans: [lane], settlesStates: wanted.leaves === null };
  }
  if (wanted.leaves === null) return { scans: [scan('jobs', 'id', 'true', [], direction)], settlesStates: true };
  const inLane = wanted.lane === null ? { sql: '', params: [] } : { sql: ' AND lane = ?', params: [wanted.lane] };
  const scans = leafScans(wanted.leaves, r.now).map(({ table, id, where, params }) =>
    scan(table, id, where + inLane.sql, [...params, ...inLane.params], direction),
  );
  return { scans, settlesStates: true };
}

/** The next ids after `after` (null: from the start) in that direction. */
export function nextIds(
  r: Reader,
  from: Candidates,
  direction: Direction,
  after: number | null,
  limit: number,
): number[] {
  const start = after ?? (direction === 'ascending' ? 0 : Number.MAX_SAFE_INTEGER);
  const runs = from.scans.map(({ sql, params }) => statement<{ id: number }>(r.db, sql).all(...params, start, limit));
  const ids = runs.flat().map((row) => row.id);
  if (runs.length > 1) ids.sort(direction === 'ascending' ? (a, b) => a - b : (a, b) => b - a);
  return ids.slice(0, limit);
}

function scan(table: string, id: string, where: string, params: readonly unknown[], direction: Direction): Scan {
  const [sign, order] = direction === 'ascending' ? ['>', 'ASC'] : ['<', 'DESC'];
  return {
    sql: `SELECT ${id} AS id FROM ${table} WHERE ${where} AND ${id} ${sign} ? ORDER BY ${id} ${order} LIMIT ?`,
    params,
  };
}

interface Run {
  table: string;
  id: string;
  where: string;
  params: unknown[];
}

/** The predicates of each leaf's runs. They spell the expression of the index `runtime_phase`. */
function leafScans(leaves: ReadonlySet<Leaf>, now: number): Run[] {
  const phase = (code: string, rest = '', params: unknown[] = []) => ({
    table: 'job_runtime',
    id: 'job_id',
    where: `state || due || backing_off = '${code}'${rest}`,
    params,
  });
  const anyPhase = (state: string) => ['00', '01', '10'].map((code) => phase(state + code));
  const outcome = (state: string) => ({
    table: 'job_outcomes',
    id: 'job_id',
    where: `state = '${state}'`,
    params: [],
  });
  // When all three are wanted there is no need to ask the clock which of them a delayed job is.
  if (leaves.has('ready') && leaves.has('scheduled') && leaves.has('retrying')) {
    const others = [...leaves].filter((leaf) => leaf !== 'ready' && leaf !== 'scheduled' && leaf !== 'retrying');
    return [...anyPhase('queued'), ...leafScans(new Set(others), now)];
  }
  return [...leaves].flatMap((leaf) => {
    switch (leaf) {
      case 'blocked':
      case 'running':
        return anyPhase(leaf);
      case 'scheduled':
        return [phase('queued00', ' AND next_run_at > ?', [now])];
      case 'retrying':
        return [phase('queued01', ' AND next_run_at > ?', [now])];
      case 'ready':
        return [phase('queued10'), cameDue(now)];
      case 'done':
      case 'dead':
      case 'canceled':
        return [outcome(leaf)];
      default:
        return leaf satisfies never;
    }
  });
}

/**
 * Those whose time has come since a claim last looked are few: read by time, then ordered. The plus
 * keeps the planner from reading all live jobs in the order of their ids instead.
 */
function cameDue(now: number): Run {
  const where = `state = 'queued' AND due = 0 AND next_run_at <= ?`;
  return { table: 'job_runtime', id: '+job_id', where, params: [now] };
}

function isSmall(r: Reader, lane: string): boolean {
  const sql = 'SELECT count(*) AS n FROM (SELECT 1 FROM jobs WHERE lane = ? LIMIT ?)';
  return (statement<{ n: number }>(r.db, sql).get(lane, SMALL_LANE)?.n ?? 0) < SMALL_LANE;
}
