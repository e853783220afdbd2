/** What a retry brought back beside the jobs it names, read off the ledger: other writers may have carried it on. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MAX_LIST } from '../../shared/limits.ts';
import type { Revived } from '../../shared/protocol.ts';
import type { Store } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';

/** @param since the ledger's cursor before the retry; `roots` are the jobs that it brought back */
export async function revivedWith(store: Store, roots: readonly number[], since: number): Promise<Revived[]> {
  const needs = new Set(roots);
  const found: { id: number; rerunOf: number | null }[] = [];
  const end = store.read((reader) => queries.cursor(reader));
  for (let at = since; at < end;) {
    const page = store.read((reader) => queries.events(reader, { since: at, jobId: null, limit: MAX_LIST }));
    if (page.events.length === 0) break;
    for (const { jobId, detail } of page.events) {
      const { withNeed, rerunOf } = detail as { withNeed?: number; rerunOf?: number };
      if (jobId === null || withNeed === undefined || !needs.has(withNeed)) continue;
      found.push({ id: jobId, rerunOf: rerunOf ?? null });
      // What needed it names it as it was.
      needs.add(rerunOf ?? jobId);
    }
    at = page.cursor;
    await nextTurn();
  }
  const revived: Revived[] = [];
  for (let from = 0; from < found.length; from += MAX_LIST) {
    const part = found.slice(from, from + MAX_LIST);
    const jobs = store.read((reader) =>
      queries.jobs(
        reader,
        part.map(({ id }) => id),
      ),
    );
    const states = new Map(jobs.map(({ id, state }) => [id, state]));
    revived.push(...part.map(({ id, rerunOf }) => ({ id, state: states.get(id) ?? null, rerunOf })));
    await nextTurn();
  }
  return revived;
}
