/**
 * Waiting jobs in the order in which they will start: those that are due, in claim order; then the
 * delayed, by due time; then the blocked, by id. Each section is read from an index by key.
 *
 * A place is [section, priority, next_run_at, id], with zeros for what a section does not order by.
 * A job whose time came after the last claim stands first among the delayed until a claim sees it.
 */
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import { derivePhase } from '../waiting.ts';
import type { Leaf } from './filters.ts';
import type { Placed, Stream } from './page.ts';

type Place = readonly number[];

interface Row {
  id: number;
  lane: string;
  priority: number;
  next_run_at: number;
  due: number;
  backing_off: number;
}

const ROW = 'SELECT job_id AS id, lane, priority, next_run_at, due, backing_off FROM job_runtime';
/** Two scans instead of one with OR: each is a range of the index `runtime_claim`. */
const DUE_SAME_PRIORITY = `${ROW}
WHERE lane = ? AND state = 'queued' AND due = 1 AND priority = ? AND (next_run_at, job_id) > (?, ?)
ORDER BY next_run_at, job_id LIMIT ?`;
const DUE_LOWER_PRIORITY = `${ROW}
WHERE lane = ? AND state = 'queued' AND due = 1 AND priority < ?
ORDER BY priority DESC, next_run_at, job_id LIMIT ?`;
const DELAYED = `${ROW}
WHERE state = 'queued' AND due = 0 AND (next_run_at, job_id) > (?, ?)
ORDER BY next_run_at, job_id LIMIT ?`;
const DELAYED_IN_LANE = DELAYED.replace('ORDER BY', 'AND lane = ? ORDER BY');
export const BLOCKED = `${ROW}
WHERE state || due || backing_off = ? AND job_id > ? ORDER BY job_id LIMIT ?`;
const BLOCKED_IN_LANE = BLOCKED.replace('ORDER BY', 'AND lane = ? ORDER BY');

/** Higher than any priority. */
const TOP = 2 ** 31;

/**
 * Waiting jobs with one of `leaves` (null: any), of one lane or of all. Jobs that do not wait are
 * not in it, whatever `leaves` says.
 */
export function claimStream(r: Reader, leaves: ReadonlySet<Leaf> | null, lane: string | null): Stream {
  const wants = (leaf: Leaf) => leaves === null || leaves.has(leaf);
  const sections = [
    wants('ready') ? due : null,
    wants('ready') || wants('scheduled') || wants('retrying') ? delayed : null,
    wants('blocked') ? blocked : null,
  ];
  return (after, limit) => {
    const found: Placed[] = [];
    for (const [section, read] of sections.entries()) {
      const start = after?.[0] ?? 0;
      if (read === null || section < start || found.length >= limit) continue;
      const rows = read(r, lane, section === start ? after : null, limit - found.length, wants);
      found.push(...rows.map((row) => ({ id: row.id, place: placeIn(section, row) })));
    }
    return found;
  };
}

function placeIn(section: number, row: Row): Place {
  return [section, section === 0 ? row.priority : 0, section === 2 ? 0 : row.next_run_at, row.id];
}

/** Merged of the lanes that have due jobs: each is in claim order already. */
function due(r: Reader, lane: string | null, after: Place | null, limit: number): Row[] {
  const busy = 'SELECT name FROM lanes WHERE queued > delayed';
  const lanes = lane === null ? statement<{ name: string }>(r.db, busy).all() : [{ name: lane }];
  const rows = lanes.flatMap(({ name }) => dueInLane(r, name, after, limit));
  if (lanes.length > 1) {
    rows.sort((a, b) => b.priority - a.priority || a.next_run_at - b.next_run_at || a.id - b.id);
  }
  return rows.slice(0, limit);
}

function dueInLane(r: Reader, lane: string, after: Place | null, limit: number): Row[] {
  const [, priority = TOP, nextRunAt = 0, id = 0] = after ?? [];
  const same = statement<Row>(r.db, DUE_SAME_PRIORITY).all(lane, priority, nextRunAt, id, limit);
  if (same.length >= limit) return same;
  return [...same, ...statement<Row>(r.db, DUE_LOWER_PRIORITY).all(lane, priority, limit - same.length)];
}

function delayed(
  r: Reader,
  lane: string | null,
  after: Place | null,
  limit: number,
  wants: (leaf: Leaf) => boolean,
): Row[] {
  const found: Row[] = [];
  let [, , nextRunAt = Number.MIN_SAFE_INTEGER, id = 0] = after ?? [];
  for (;;) {
    const rows =
      lane === null
        ? statement<Row>(r.db, DELAYED).all(nextRunAt, id, limit)
        : statement<Row>(r.db, DELAYED_IN_LANE).all(nextRunAt, id, lane, limit);
    found.push(...rows.filter((row) => wants(derivePhase({ ...row, state: 'queued' }, r.now) as Leaf)));
    const last = rows.at(-1);
    if (found.length >= limit || rows.length < limit || last === undefined) return found.slice(0, limit);
    [nextRunAt, id] = [last.next_run_at, last.id];
  }
}

function blocked(r: Reader, lane: string | null, after: Place | null, limit: number): Row[] {
  const start = after?.[3] ?? 0;
  const rows = ['blocked00', 'blocked01', 'blocked10'].flatMap((phase) =>
    lane === null
      ? statement<Row>(r.db, BLOCKED).all(phase, start, limit)
      : statement<Row>(r.db, BLOCKED_IN_LANE).all(phase, start, lane, limit),
  );
  return rows.sort((a, b) => a.id - b.id).slice(0, limit);
}
