/**
 * Cursors of pages: a kind and integers, as opaque text. Keyset positions, so a page costs the
 * same wherever it starts, and rows that come or go meanwhile shift nothing.
 */
import { LanewayError } from '../../../shared/errors.ts';
import { quoteValue } from '../../../shared/text.ts';

/** `kind` keeps the cursor of one list from being taken for a place in another. */
export function encodeCursor(kind: string, numbers: readonly number[]): string {
  return Buffer.from([kind, ...numbers].join(' ')).toString('base64url');
}

/**
 * The `count` integers of a cursor that {@link encodeCursor} made with this kind; null for null.
 * @throws LanewayError INVALID_INPUT
 */
export function decodeCursor(kind: string, count: number, cursor: string | null | undefined): number[] | null {
  if (cursor === null || cursor === undefined) return null;
  const [found, ...parts] = Buffer.from(cursor, 'base64url').toString('latin1').split(' ');
  const numbers = parts.map(Number);
  const valid =
    found === kind &&
    numbers.length === count &&
    numbers.every((number) => Number.isSafeInteger(number)) &&
    encodeCursor(kind, numbers) === cursor;
  if (valid) return numbers;
  throw new LanewayError(
    'INVALID_INPUT',
    `the cursor ${quoteValue(cursor)} is none that this list gave`,
    'Pass `nextCursor` of the page before with the same order, or leave the cursor out to start anew.',
  );
}
