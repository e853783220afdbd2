/**
 * `doctor`: what must be true of a queue's database. The quick checks look at how it is used; the
 * deep ones at every invariant of the model, row by row. None changes anything.
 */
import type { Check } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { DATABASE } from './database.ts';
import { run } from './invariant.ts';
import type { Invariant } from './invariant.ts';
import { KEPT } from './kept.ts';
import { LEDGER } from './ledger.ts';
import { SIDES } from './sides.ts';

export const INVARIANTS: readonly Invariant[] = [...DATABASE, ...SIDES, ...KEPT, ...LEDGER];

/** Every check, or the quick ones alone. Deep ones may take seconds on a large queue. */
export function check(r: Reader, deep: boolean): Check[] {
  return INVARIANTS.filter((invariant) => deep || !invariant.deep).map((invariant) => run(r, invariant));
}
