/** Moments as people type them: ISO 8601, or `HH:MM` for its next occurrence in local time. */
import { LanewayError } from './errors.ts';
import type { Timestamp } from './job.ts';
import { MAX_DURATION_MS } from './limits.ts';
import { quoteValue } from './text.ts';

const CLOCK = /^(\d{1,2}):(\d{2})$/;
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * The moment a user meant, as ISO 8601 UTC with milliseconds. Without a zone it is local time; a
 * date alone is its midnight. A moment in the past is allowed and means "due now".
 * @param now milliseconds since the epoch
 * @throws LanewayError INVALID_INPUT naming the value and the forms, or the limit.
 */
export function parseAt(text: string, now: number): Timestamp {
  const moment = readClock(text.trim(), now) ?? readIso(text.trim());
  if (moment === null) {
    throw new LanewayError(
      'INVALID_INPUT',
      `--at ${quoteValue(text)} is no moment`,
      'Write ISO 8601, such as 2031-05-04T18:30:00Z, or HH:MM for its next occurrence.',
    );
  }
  if (moment > now + MAX_DURATION_MS) {
    throw new LanewayError(
      'INVALID_INPUT',
      `--at ${quoteValue(text)} is more than 366 days ahead`,
      'Give an earlier moment.',
    );
  }
  return new Date(moment).toISOString();
}

/** `HH:MM` today when that is still to come, else tomorrow: by the calendar, so that DST shifts neither. */
function readClock(text: string, now: number): number | null {
  const match = CLOCK.exec(text);
  if (!match) return null;
  const [hour, minute] = [Number(match[1]), Number(match[2])];
  if (hour > 23 || minute > 59) return null;
  const today = new Date(now);
  const on = (day: number): number =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + day, hour, minute).getTime();
  return on(0) > now ? on(0) : on(1);
}

function readIso(text: string): number | null {
  const match = ISO.exec(text);
  if (!match) return null;
  const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map((n) => Number(match[n] ?? 0));
  const ms = Math.trunc(Number(`0.${match[7] ?? 0}`) * 1000);
  const parts = [year, month, day, hour, minute, second] as [number, number, number, number, number, number];
  const utc = utcOf(parts, ms);
  if (utc === null) return null;
  const zone = match[8];
  if (zone === undefined) {
    // The years 0 to 99 would be read as 1900 + n by the Date constructor.
    const local = new Date(2000, parts[1] - 1, parts[2], parts[3], parts[4], parts[5], ms);
    local.setFullYear(parts[0], parts[1] - 1, parts[2]);
    return local.getTime();
  }
  if (zone.toUpperCase() === 'Z') return utc;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || 0);
  if (hours > 23 || minutes > 59) return null;
  return utc - (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

/** Milliseconds of a calendar moment in UTC; null when there is none such (February 30, 25:00). */
function utcOf([year, month, day, hour, minute, second]: number[], ms: number): number | null {
  if (hour! > 23 || minute! > 59 || second! > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  date.setUTCHours(hour!, minute!, second!, ms);
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day! ? date.getTime() : null;
}
