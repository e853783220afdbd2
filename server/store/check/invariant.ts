/** What a check is, and the words that name offending rows. */
import type { Check } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

/** One thing that must be true. `find` looks only, and may take seconds on a large queue when deep. */
export interface Invariant {
  id: string;
  deep: boolean;
  /** Said when it holds. */
  holds: string;
  /** What to do when it does not. */
  hint: string;
  find(r: Reader): Finding;
}

/** Null: it holds. A text alone is a failure. */
export type Finding = string | { warn: string } | null;

/** Named before the rest is only said to exist. */
const NAMED = 5;

/** What a damaged database needs; rows that contradict each other are a fault of Laneway. */
export const REPORT =
  'Please report this with the output of `lane doctor --deep --json`. Jobs can be saved by `lane list --json`.';

/** Rows that a statement finds, named by their first column; null when there is none. */
export function offending(r: Reader, what: string, sql: string, ...params: unknown[]): string | null {
  const rows = statement<Record<string, unknown>>(r.db, `${sql} LIMIT ${NAMED + 1}`).all(...params);
  return rows.length === 0
    ? null
    : name(
        what,
        rows.map((row) => String(Object.values(row)[0])),
      );
}

/** `jobs 1, 2 and 3 …`; more than a few end in "and more". */
export function name(what: string, ids: readonly string[]): string {
  const named = ids.slice(0, NAMED);
  const rest = ids.length > NAMED ? ' and more' : '';
  return `${what}: ${named.join(', ')}${rest}`;
}

/** The first of several findings that found something. */
export function firstOf(...findings: readonly (() => Finding)[]): Finding {
  for (const find of findings) {
    const found = find();
    if (found !== null) return found;
  }
  return null;
}

/** Runs one check. What it cannot even read is a failure of it, never an exception. */
export function run(r: Reader, invariant: Invariant): Check {
  const { id, holds, hint } = invariant;
  let found: Finding;
  try {
    found = invariant.find(r);
  } catch (error) {
    found = `could not be checked: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (found === null) return { id, status: 'ok', message: holds, hint: null };
  if (typeof found === 'string') return { id, status: 'fail', message: found, hint };
  return { id, status: 'warn', message: found.warn, hint };
}
