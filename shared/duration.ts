/** Durations as people type them: `500ms`, `30s`, `5m`, `2h`, `1d`, `1h30m`; a bare number is seconds. */
import { LanewayError } from './errors.ts';
import { MAX_DURATION_MS, MIN_DURATION_MS } from './limits.ts';
import { quoteValue } from './text.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

const FORM = /^(?:\d+(?:\.\d+)?(?:d|h|ms|m|s))+$/i;
const PART = /(\d+(?:\.\d+)?)(d|h|ms|m|s)/gi;

export interface DurationOptions {
  /** What the value is for, as the user named it: `--timeout`. */
  what?: string;
  /** The least that is allowed, in milliseconds. */
  min?: number;
}

/**
 * Milliseconds of a duration as typed. Each unit at most once, the larger before the smaller.
 * @throws LanewayError INVALID_INPUT naming the value, and the forms or the limits.
 */
export function parseDuration(text: string, options: DurationOptions = {}): number {
  const { what = 'duration', min = MIN_DURATION_MS } = options;
  const ms = read(text.trim());
  if (ms === null) {
    throw new LanewayError(
      'INVALID_INPUT',
      `${what} ${quoteValue(text)} is no duration`,
      'Write 500ms, 30s, 5m, 2h, 1d or 1h30m; a bare number is seconds.',
    );
  }
  if (ms < min || ms > MAX_DURATION_MS) {
    throw new LanewayError(
      'INVALID_INPUT',
      `${what} ${quoteValue(text)} is out of range: ${formatDuration(min)} to ${formatDuration(MAX_DURATION_MS)} is allowed`,
      ms < min ? 'Give a longer duration, or leave it out.' : 'Give a shorter duration, or leave it out.',
    );
  }
  return ms;
}

function read(text: string): number | null {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1000);
  if (!FORM.test(text)) return null;
  let total = 0;
  let last = -1;
  for (const [, amount, unit] of text.matchAll(PART)) {
    const index = UNITS.findIndex(([name]) => name === unit?.toLowerCase());
    const size = UNITS[index]?.[1];
    if (size === undefined || index <= last) return null;
    last = index;
    total += Number(amount) * size;
  }
  return Math.round(total);
}

/** The exact duration in the form that `parseDuration` reads back: `1h30m`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  let rest = Math.max(0, Math.round(ms));
  let text = '';
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(rest / size);
    if (amount > 0) text += `${amount}${unit}`;
    rest -= amount * size;
  }
  return text || '0s';
}
