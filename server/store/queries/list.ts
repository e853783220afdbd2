/** Pages of jobs: newest first, or in the order in which waiting jobs will start. */
import type { Job } from '../../../shared/job.ts';
import type { Selection } from '../../../shared/protocol.ts';
import { LanewayError } from '../../../shared/errors.ts';
import { MAX_LIST } from '../../../shared/limits.ts';
import type { ListArgs, Reader } from '../api.ts';
import { candidates, nextIds } from './candidates.ts';
import type { Candidates, Direction } from './candidates.ts';
import { claimStream } from './claimOrder.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { isResidual, leavesOf } from './filters.ts';
import { jobs } from './jobs.ts';
import { filtered, page } from './page.ts';
import type { Looking, Placed, Stream } from './page.ts';
import { resolve } from './resolve.ts';

/**
 * One page of jobs. With `tags`, `text` or `key` it may be short of `limit` and still name a next one.
 * @throws LanewayError INVALID_INPUT for a cursor that no page of this order gave, or a limit out of range
 */
export function list(r: Reader, args: ListArgs): { jobs: Job[]; nextCursor: string | null } {
  if (!Number.isInteger(args.limit) || args.limit < 1 || args.limit > MAX_LIST) {
    throw new LanewayError(
      'INVALID_INPUT',
      `limit ${args.limit} is not 1 to ${MAX_LIST}`,
      'Ask for fewer jobs, page by page.',
    );
  }
  const { kind, places, stream, filters } = args.order === 'claim' ? inClaimOrder(r, args) : newestFirst(r, args);
  const after = decodeCursor(kind, places, args.cursor);
  const { ids, next } = page(r, stream, filters, after, args.limit);
  return { jobs: jobs(r, ids), nextCursor: next === null ? null : encodeCursor(kind, next) };
}

interface Plan {
  kind: string;
  /** Integers of a place. */
  places: number;
  stream: Stream;
  filters: Looking | null;
}

function inClaimOrder(r: Reader, args: ListArgs): Plan {
  const leaves = leavesOf(args.states);
  const residual = isResidual(args) || Boolean(args.key) || Boolean(args.ids);
  const stream = claimStream(r, leaves, args.lane ?? null);
  return { kind: 'claim', places: 4, stream, filters: residual ? looking(args, null) : null };
}

function newestFirst(r: Reader, args: ListArgs): Plan {
  const leaves = leavesOf(args.states);
  if (args.ids) return { kind: 'newest', places: 1, stream: givenIds(args.ids), filters: looking(args, leaves) };
  const from = candidates(r, { leaves, lane: args.lane ?? null, key: args.key ?? null }, 'descending');
  const settled = from.settlesStates && !isResidual(args) && !(args.key && args.lane);
  const filters = settled ? null : looking(args, from.settlesStates ? null : leaves);
  return { kind: 'newest', places: 1, stream: byId(r, from, 'descending'), filters };
}

function looking(args: ListArgs, leaves: Looking['leaves']): Looking {
  const ids = args.ids ? new Set(args.ids) : null;
  return { leaves, ids, tags: args.tags, text: args.text, lane: args.lane, key: args.key };
}

function byId(r: Reader, from: Candidates, direction: Direction): Stream {
  return (after, limit) => nextIds(r, from, direction, after?.[0] ?? null, limit).map(placed);
}

function givenIds(ids: readonly number[]): Stream {
  const descending = [...new Set(ids)].sort((a, b) => b - a);
  return (after, limit) =>
    descending
      .filter((id) => id < (after?.[0] ?? Infinity))
      .slice(0, limit)
      .map(placed);
}

function placed(id: number): Placed {
  return { id, place: [id] };
}

/**
 * Ids a selection means, ascending, at most `limit`, after the id `after`. Named jobs keep no
 * limit of work; a filter by tags looks through all jobs of the states asked for.
 * @throws LanewayError NOT_FOUND, INVALID_INPUT
 */
export function select(r: Reader, selection: Selection, limit: number, after = 0): number[] {
  if (Boolean(selection.ids) === Boolean(selection.all)) {
    throw new LanewayError(
      'INVALID_INPUT',
      'jobs are chosen either by id or by a filter',
      'Name ids, or choose with --all.',
    );
  }
  if (selection.ids) {
    const ids = new Set(selection.ids.map((ref) => resolve(r, ref)));
    return [...ids]
      .filter((id) => id > after)
      .sort((a, b) => a - b)
      .slice(0, limit);
  }
  const leaves = leavesOf(selection.states);
  const from = candidates(r, { leaves, lane: selection.lane ?? null, key: null }, 'ascending');
  const stream = byId(r, from, 'ascending');
  if (from.settlesStates && !isResidual(selection)) return stream([after], limit).map((job) => job.id);
  return selectFiltered(r, stream, { tags: selection.tags, leaves: from.settlesStates ? null : leaves }, limit, after);
}

function selectFiltered(r: Reader, stream: Stream, filters: Looking, limit: number, after: number): number[] {
  const ids: number[] = [];
  let place = [after];
  for (;;) {
    const chunk = stream(place, 1000);
    ids.push(...filtered(r, chunk, filters).map((job) => job.id));
    if (ids.length >= limit || chunk.length < 1000) return ids.slice(0, limit);
    place = [...(chunk.at(-1)?.place ?? place)];
  }
}
