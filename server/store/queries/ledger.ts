/** The ledger by cursor, and one job's history with its attempts merged in. */
import { LanewayError } from '../../../shared/errors.ts';
import type { JobEvent, TimelineEntry } from '../../../shared/event.ts';
import { MAX_EVENTS } from '../../../shared/limits.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Reader } from '../api.ts';
import { toAttempt, toEvent } from '../rows.ts';
import type { AttemptRow, EventRow } from '../rows.ts';
import { statement } from '../statements.ts';
import { iso } from '../waiting.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

const EVENT = 'SELECT id, job_id, attempt, event_type, at, worker_id, detail FROM job_events';
export const EVENTS = `${EVENT} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`;
const EVENTS_OF_JOB = `${EVENT} WHERE id > ? AND id <= ? AND job_id = ? ORDER BY id LIMIT ?`;

/** Id of the newest event ever written, pruned or not; 0 before the first. */
export function cursor(r: Reader): number {
  return statement<{ seq: number }>(r.db, `SELECT seq FROM sqlite_sequence WHERE name = 'job_events'`).get()?.seq ?? 0;
}

/**
 * Events after `since`, the oldest first, and where to go on: no event is missed and none seen twice.
 * @throws LanewayError INVALID_INPUT
 */
export function events(
  r: Reader,
  { since, jobId, limit }: { since: number; jobId: number | null; limit: number },
): { events: JobEvent[]; cursor: number } {
  if (!Number.isSafeInteger(since) || since < 0) {
    throw new LanewayError(
      'INVALID_INPUT',
      `${quoteValue(since)} is no event id`,
      'Pass the `cursor` of an answer before, or 0.',
    );
  }
  checkLimit(limit);
  // The newest id is read first: an event committed between the two reads must not be passed over.
  const newest = cursor(r);
  const rows =
    jobId === null
      ? statement<EventRow>(r.db, EVENTS).all(since, newest, limit)
      : statement<EventRow>(r.db, EVENTS_OF_JOB).all(since, newest, jobId, limit);
  const complete = rows.length < limit;
  return { events: rows.map(toEvent), cursor: complete ? Math.max(since, newest) : (rows.at(-1)?.id ?? since) };
}

/**
 * One job's events in the order of the ledger, each attempt right after the event that claimed it.
 * Events are the order, not clocks: those may step. A place is [event id, 1 after its attempt].
 * @throws LanewayError INVALID_INPUT for a cursor that no page gave
 */
export function timeline(
  r: Reader,
  { jobId, cursor, limit }: { jobId: number; cursor: string | null; limit: number },
): { entries: TimelineEntry[]; nextCursor: string | null } {
  checkLimit(limit);
  const [after = 0, attemptSeen = 1] = decodeCursor('timeline', 2, cursor) ?? [];
  const rows = statement<EventRow>(r.db, `${EVENT} WHERE job_id = ? AND id >= ? ORDER BY id LIMIT ?`).all(
    jobId,
    after,
    limit + 2,
  );
  const found: { place: [number, number]; entry: TimelineEntry }[] = [];
  for (const row of rows) {
    if (row.id > after) {
      found.push({ place: [row.id, 0], entry: { kind: 'event', at: iso(row.at), event: toEvent(row) } });
    }
    if (row.event_type !== 'claimed' || (row.id === after && attemptSeen === 1)) continue;
    const attempt = attemptOf(r, jobId, row.attempt);
    if (attempt !== null) found.push({ place: [row.id, 1], entry: attempt });
  }
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  const more = found.length > limit && last !== undefined;
  return { entries: entries.map(({ entry }) => entry), nextCursor: more ? encodeCursor('timeline', last.place) : null };
}

function attemptOf(r: Reader, jobId: number, number: number | null): TimelineEntry | null {
  const row = statement<AttemptRow>(r.db, 'SELECT * FROM attempts WHERE job_id = ? AND number = ?').get(jobId, number);
  return row === undefined ? null : { kind: 'attempt', at: iso(row.started_at), attempt: toAttempt(row) };
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS) return;
  throw new LanewayError('INVALID_INPUT', `limit ${limit} is not 1 to ${MAX_EVENTS}`, 'Ask for fewer, page by page.');
}
