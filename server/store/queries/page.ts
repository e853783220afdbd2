/**
 * One page of an ordered stream of jobs, through filters that no index knows. Work is bounded: a
 * page that has looked at enough jobs ends early and names where to go on.
 */
import type { JobState } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import { derivePhase } from '../waiting.ts';
import { matches } from './filters.ts';
import type { Filtered, Filters, Leaf } from './filters.ts';

/** Jobs one page looks at, at most: about 50 ms of reading. */
const MAX_LOOKED_AT = 10_000;
const CHUNK = 1000;

/** A job in a stream: `place` is what a cursor to go on after it holds. */
export interface Placed {
  id: number;
  place: readonly number[];
}

/** The next jobs of a stream after a place; null: from its start. Fewer than asked for: the end. */
export type Stream = (after: readonly number[] | null, limit: number) => Placed[];

export interface Looking extends Filters {
  /** Null: any. */
  leaves: ReadonlySet<Leaf> | null;
  /** Absent or null: any. */
  ids?: ReadonlySet<number> | null;
}

const LOOKED_AT = `
SELECT j.id, j.lane, j.key, j.label, j.argv, j.tags, coalesce(r.state, o.state) AS state, r.due, r.backing_off,
  r.next_run_at
FROM json_each(?) wanted
CROSS JOIN jobs j ON j.id = wanted.value
LEFT JOIN job_runtime r ON r.job_id = j.id
LEFT JOIN job_outcomes o ON o.job_id = j.id`;

interface LookedAt extends Filtered {
  state: JobState;
  due: number | null;
  backing_off: number | null;
  next_run_at: number | null;
}

/**
 * At most `limit` jobs after a place, and the place to go on from (null: the stream ended).
 * @param filters what each job is looked at for; null when the stream settles every filter.
 */
export function page(
  r: Reader,
  stream: Stream,
  filters: Looking | null,
  after: readonly number[] | null,
  limit: number,
): { ids: number[]; next: readonly number[] | null } {
  const kept: Placed[] = [];
  let place = after;
  let looked = 0;
  while (looked < MAX_LOOKED_AT) {
    const wanted = filters === null ? limit + 1 : CHUNK;
    const found = stream(place, wanted);
    kept.push(...(filters === null ? found : filtered(r, found, filters)));
    if (kept.length > limit) {
      const ids = kept.slice(0, limit).map((job) => job.id);
      return { ids, next: kept[limit - 1]?.place ?? place };
    }
    looked += found.length;
    if (found.length < wanted) return { ids: kept.map((job) => job.id), next: null };
    place = found.at(-1)?.place ?? place;
  }
  return { ids: kept.map((job) => job.id), next: place };
}

/** Those of one chunk that pass, in its order. */
export function filtered(r: Reader, chunk: readonly Placed[], filters: Looking): Placed[] {
  const wanted = chunk.map((job) => job.id).filter((id) => filters.ids?.has(id) ?? true);
  const ids = JSON.stringify(wanted);
  const passed = new Set<number>();
  for (const row of statement<LookedAt>(r.db, LOOKED_AT).iterate(ids)) {
    if (filters.leaves !== null && !filters.leaves.has(derivePhase(row, r.now) as Leaf)) continue;
    if (matches(row, filters)) passed.add(row.id);
  }
  return chunk.filter((job) => passed.has(job.id));
}
