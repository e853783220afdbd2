/** Numbers, spans and moments as people say them. Pure: the present moment is always given. */

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span in at most two units: `40 ms`, `1.2 s`, `12 s`, `3 m 5 s`, `2 h 10 m`, `3 d 4 h`. */
export function sayDuration(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 9950) return `${(ms / SECOND).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < MINUTE - 500) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR - 500) return two(Math.round(ms / SECOND), 60, 'm', 's');
  if (ms < DAY - MINUTE / 2) return two(Math.round(ms / MINUTE), 60, 'h', 'm');
  return two(Math.round(ms / HOUR), 24, 'd', 'h');
}

function two(total: number, size: number, big: string, small: string): string {
  const rest = total % size;
  const whole = `${Math.floor(total / size)} ${big}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

/** One unit only, for moments relative to now: `12 s`, `5 m`, `2 h`, `3 d`. */
function about(ms: number): string {
  if (ms < MINUTE) return `${Math.max(1, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} m`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** A moment relative to now: `just now`, `5 m ago`, `in 2 h`; over two weeks away, its date. */
export function sayMoment(at: string | number, now: number): string {
  const moment = typeof at === 'number' ? at : Date.parse(at);
  const away = Math.abs(now - moment);
  if (away >= 14 * DAY) return sayDate(moment);
  if (away < SECOND) return 'just now';
  return moment > now ? `in ${about(away)}` : `${about(away)} ago`;
}

/** A local date: `2031-05-04`. */
function sayDate(at: string | number): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${digits(date.getMonth() + 1)}-${digits(date.getDate())}`;
}

/** A local moment to the second: `2031-05-04 18:30:05`. */
export function sayTime(at: string | number): string {
  const date = new Date(at);
  return `${sayDate(at)} ${digits(date.getHours())}:${digits(date.getMinutes())}:${digits(date.getSeconds())}`;
}

/** Words with ISO 8601 moments in them, such as why a job waits, with these as local ones. */
export function sayLocally(words: string): string {
  return words.replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, sayTime);
}

function digits(n: number): string {
  return String(n).padStart(2, '0');
}

/** A size in bytes: `0 B`, `640 B`, `1.5 KiB`, `20 MiB`. */
export function sayBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let amount = bytes;
  let unit = 'B';
  for (const next of ['KiB', 'MiB', 'GiB', 'TiB']) {
    amount /= 1024;
    unit = next;
    // 1023.5 and more would be printed as 1024 of this unit.
    if (amount < 1023.5) break;
  }
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

/** A count with its noun: `1 job`, `10,000 jobs`. */
export function sayCount(n: number, noun: string, plural = `${noun}s`): string {
  return `${sayNumber(n)} ${n === 1 ? noun : plural}`;
}

/** A whole number with thousands set apart: `10,000`. */
export function sayNumber(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
