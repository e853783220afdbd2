/**
 * The small checks that validation is made of. Each names the value, the limit and the way out
 * in one line, as LanewayError INVALID_INPUT.
 */
import { LanewayError } from './errors.ts';
import { MAX_DURATION_MS, MIN_DURATION_MS } from './limits.ts';
import { quoteValue } from './text.ts';

export type Fields = Record<string, unknown>;

export function invalid(message: string, hint: string): LanewayError {
  return new LanewayError('INVALID_INPUT', message, hint);
}

/** Null and undefined both mean "not given". */
export function absent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** A plain object with no fields but the named ones. */
export function fields(value: unknown, what: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${what} ${quoteValue(value)} is no object`, `Send an object with ${known.slice(0, 3).join(', ')} …`);
  }
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const near = nearest(name, known);
    throw invalid(
      `${what} has an unknown field ${quoteValue(name)}`,
      near === null ? `Known fields: ${known.join(', ')}.` : `Did you mean ${near}?`,
    );
  }
  return value as Fields;
}

/** The known word that is closest to a mistyped one; null when none is close. */
export function nearest(word: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const far = distance(word.slice(0, 64).toLowerCase(), candidate.toLowerCase());
    if (far < least) [best, least] = [candidate, far];
  }
  return best;
}

/** Letters to insert, drop, replace or swap with their neighbour to come from one word to the other. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(i - 2, j - 2) + 1);
      rows[i]![j] = least;
    }
  }
  return at(a.length, b.length);
}

/** Text without NUL and without halves of surrogate pairs, which no system call could carry. */
export function text(value: unknown, what: string): string {
  if (typeof value !== 'string') {
    throw invalid(`${what} ${quoteValue(value)} is no text`, 'Give text.');
  }
  if (value.includes('\0')) {
    throw invalid(`${what} ${quoteValue(value)} holds a NUL character, which no program can be given`, 'Remove it.');
  }
  if (!value.isWellFormed()) {
    throw invalid(`${what} ${quoteValue(value)} holds half a surrogate pair, which is no character`, 'Remove it.');
  }
  return value;
}

/** Text of `min` to `max` characters, counted as Unicode code points. */
export function sizedText(value: unknown, what: string, min: number, max: number): string {
  const checked = text(value, what);
  // A pair of surrogates is one character.
  const length = checked.length - (checked.match(/[\ud800-\udbff]/g)?.length ?? 0);
  if (length < min) {
    throw invalid(`${what} is empty; ${min} to ${max} characters are allowed`, 'Give a value, or leave it out.');
  }
  if (length > max) {
    throw invalid(`${what} ${quoteValue(value)} has ${length} characters; at most ${max} are allowed`, 'Shorten it.');
  }
  return checked;
}

export function integer(value: unknown, what: string, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw invalid(
      `${what} ${quoteValue(value)} is no whole number; ${min} to ${max} is allowed`,
      'Give a whole number, or leave it out.',
    );
  }
  if (value < min || value > max) {
    throw invalid(`${what} ${value} is out of range; ${min} to ${max} is allowed`, 'Give a number within that range.');
  }
  return value;
}

/** Milliseconds within 1 ms … 366 days. */
export function duration(value: unknown, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < MIN_DURATION_MS || value > MAX_DURATION_MS) {
    throw invalid(
      `${what} ${quoteValue(value)} is out of range; 1 ms to 366 days (${MAX_DURATION_MS} ms) is allowed`,
      'Give whole milliseconds within that range, or leave it out.',
    );
  }
  return value;
}

export function flag(value: unknown, what: string): boolean {
  if (typeof value !== 'boolean') {
    throw invalid(`${what} ${quoteValue(value)} is neither true nor false`, 'Give true or false, or leave it out.');
  }
  return value;
}

export function oneOf<T extends string>(value: unknown, what: string, words: readonly T[]): T {
  if ((words as readonly unknown[]).includes(value)) return value as T;
  throw invalid(`${what} ${quoteValue(value)} is not known`, `Use one of ${words.join(', ')}.`);
}

export function list(value: unknown, what: string, min: number, max: number): unknown[] {
  if (!Array.isArray(value)) throw invalid(`${what} ${quoteValue(value)} is no list`, 'Give a list.');
  if (value.length < min || value.length > max) {
    throw invalid(
      `${what} has ${value.length} entries; ${min} to ${max} are allowed`,
      value.length < min ? 'Name at least one.' : 'Split it into several requests.',
    );
  }
  return value as unknown[];
}

/** An object of texts, such as tags or an environment. */
export function textRecord(value: unknown, what: string): [string, string][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${what} ${quoteValue(value)} is no object of texts`, 'Give names with text values.');
  }
  return Object.entries(value).map(([name, entry]) => [text(name, `${what} name`), text(entry, `${what} ${name}`)]);
}
