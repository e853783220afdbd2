/**
 * A verb over many jobs, in as many transactions as the row limit asks for. Named jobs go in parts
 * of that size. `all` is turned into ids page by page, so that each job is met once however its state
 * changes meanwhile; jobs that no longer fit when their turn comes are left out of an `all`.
 */
import { MAX_TRANSITION_ROWS } from '../../shared/limits.ts';
import type { JobRef, JobResult, Selection } from '../../shared/protocol.ts';
import type { Store, Tx } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';

export async function inBatches<R extends JobResult>(
  store: Store,
  selection: Selection,
  step: (tx: Tx, ids: JobRef[]) => { results: R[]; more: boolean },
): Promise<R[]> {
  const results: R[] = [];
  if (selection.ids) {
    for (let from = 0; from < selection.ids.length; from += MAX_TRANSITION_ROWS) {
      await part(store, selection.ids.slice(from, from + MAX_TRANSITION_ROWS), step, results);
    }
  } else {
    let after = 0;
    for (;;) {
      const ids = store.read((reader) => queries.select(reader, selection, MAX_TRANSITION_ROWS, after));
      if (ids.length === 0) break;
      after = ids.at(-1) ?? after;
      const met: R[] = [];
      await part(store, ids, step, met);
      results.push(...met.filter((result) => concerns(result, selection)));
    }
  }
  await settleAll(store);
  return results;
}

/** What stands against a job that is still as it was chosen has to be told; one that moved on meanwhile does not. */
function concerns({ error, state }: JobResult, { states }: Selection): boolean {
  if (error === null || error.code === 'KEY_CONFLICT') return true;
  return state !== null && states?.includes(state) === true;
}

/** One part; a transition that could not take all of it says so and is asked for the rest. */
async function part<R extends JobResult>(
  store: Store,
  refs: JobRef[],
  step: (tx: Tx, ids: JobRef[]) => { results: R[]; more: boolean },
  results: R[],
): Promise<void> {
  let left = refs;
  while (left.length > 0) {
    const { results: met, more } = await store.write((tx) => step(tx, left));
    results.push(...met);
    left = more && met.length > 0 ? left.slice(met.length) : [];
  }
}

/** Settle dependents that one transaction may not touch all at once. */
export async function settleAll(store: Store): Promise<void> {
  while (await store.write((tx) => transitions.settle(tx)));
}
