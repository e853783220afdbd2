/** retry with dependents: what a death had settled comes back, however much it is, and whoever dies in between. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Claimed, Store } from '../../server/store/api.ts';
import { openStore } from '../../server/store/open.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { MAX_TRANSITION_ROWS } from '../../shared/limits.ts';
import type { NeedPolicy } from '../../shared/job.ts';
import {
  add,
  addOne,
  assertSound,
  claim,
  eventsOf,
  finish,
  memoryFolder,
  openTemp,
  register,
  stateOf,
} from './support.ts';

async function die(store: Store): Promise<void> {
  await finish(store, (await claim(store))[0] as Claimed, { exitCode: 1 });
}
const retry = (store: Store, ...ids: number[]): Promise<ReturnType<typeof transitions.retry>> =>
  store.write((tx) => transitions.retry(tx, { selection: { ids }, force: false, withDependents: true }));
const settleOnce = (store: Store): Promise<boolean> => store.write((tx) => transitions.settle(tx));
const states = (store: Store, ids: number[]): (string | null)[] => ids.map((id) => stateOf(store, id));
const jobOf = (store: Store, id: number) => store.read((r) => queries.job(r, id));
const rerunsOf = (store: Store, id: number): number[] =>
  store.read(({ db }) =>
    db.prepare<[number], number>('SELECT id FROM jobs WHERE rerun_of = ? ORDER BY id').pluck().all(id),
  );
const newest = (store: Store): number => store.read((r) => queries.cursor(r));

test('dead ones come back themselves, canceled ones as reruns that need the same; a person’s cancel stays', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const ids = await add(
    store,
    { label: 'root' },
    { needs: [{ line: 1 }], label: 'canceled' },
    { needs: [{ line: 2 }], onNeedFailure: 'dead', label: 'dead of a canceled one' },
    { needs: [{ line: 1 }], label: 'by a person' },
    { needs: [{ line: 1 }], key: 'k' },
    { needs: [{ line: 1 }], onNeedFailure: 'dead' },
    { needs: [{ line: 4 }, { line: 1 }], onNeedFailure: 'dead', label: 'needs what a person cancelled' },
  );
  await store.write((tx) => transitions.cancel(tx, { ids: [4] }));
  await die(store);
  const holder = await addOne(store, { key: 'k' });
  assert.deepEqual((await retry(store, 1)).results, [{ id: 1, state: 'queued', error: null }]);
  // 2 and 3 are repeated, 5 has lost its key to another, 6 is back itself.
  assert.deepEqual(states(store, ids), ['queued', 'canceled', 'dead', 'canceled', 'canceled', 'blocked', 'dead']);
  const [again] = rerunsOf(store, 2) as [number];
  const [after] = rerunsOf(store, 3) as [number];
  assert.deepEqual([jobOf(store, again)?.needs, jobOf(store, again)?.label], [[1], 'canceled']);
  assert.deepEqual([jobOf(store, after)?.needs, jobOf(store, after)?.rerunOf], [[again], 3]);
  assert.deepEqual([rerunsOf(store, 4), rerunsOf(store, 5), rerunsOf(store, 7)], [[], [], []]);
  assert.equal(stateOf(store, holder), 'queued');
  assertSound(store);
  // It dies again: once more only the newest of each comes back.
  await die(store);
  assert.deepEqual(states(store, [1, again, after, 6]), ['dead', 'canceled', 'dead', 'dead']);
  await retry(store, 1);
  assert.deepEqual([rerunsOf(store, 2), rerunsOf(store, again).length, rerunsOf(store, after).length], [[again], 1, 1]);
  for (let n = 0; n < 5; n++) await finish(store, (await claim(store))[0] as Claimed);
  assert.deepEqual(states(store, [1, 6, ...rerunsOf(store, again), ...rerunsOf(store, after)]), Array(4).fill('done'));
  assertSound(store);
});

test('thousands come back in bounded steps; the process dies between two, the next goes on, and nothing comes twice', async (t) => {
  const folder = memoryFolder(t);
  const { store, clock } = await openTemp(t, { folder });
  await register(store);
  const many = Array.from({ length: 1500 }, (_, n) => ({
    needs: [{ line: 1 }, ...(n % 7 === 0 && n > 0 ? [{ line: n + 1 }] : [])],
    onNeedFailure: (n % 3 === 0 ? 'dead' : 'cancel') as NeedPolicy,
  }));
  const ids = await add(store, {}, ...many);
  await die(store);
  while (await settleOnce(store));
  assert.equal(store.read((r) => queries.counts(r)).counts.blocked, 0);
  let before = newest(store);
  await retry(store, 1);
  assert.ok(newest(store) - before <= MAX_TRANSITION_ROWS / 3);
  await settleOnce(store);
  assert.equal(await settleOnce(store), true, 'there is more');
  assertSound(store);
  // Whoever did it is gone without a word; another opens the queue.
  const next = await openStore({ folder, clock });
  t.after(() => next.close());
  for (let more = true; more;) {
    before = newest(next);
    more = await settleOnce(next);
    assert.ok(newest(next) - before <= MAX_TRANSITION_ROWS / 3);
  }
  const { counts } = next.read((r) => queries.counts(r));
  assert.deepEqual([counts.blocked, counts.queued], [1500, 1]);
  assert.deepEqual(
    ids.filter((id) => rerunsOf(next, id).length > 1),
    [],
  );
  assert.equal(await settleOnce(next), false);
  assertSound(next);
});

test('what came back runs although its need was done before it was there, and stays when its need died again', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const wide = (line: number) => Array.from({ length: 120 }, () => ({ needs: [{ line }] }));
  await add(store, {}, ...wide(1));
  await die(store);
  await retry(store, 1);
  assert.equal(store.read((r) => queries.counts(r)).counts.blocked < 120, true);
  const claimed = (await claim(store))[0] as Claimed;
  assert.equal(claimed.jobId, 1);
  await finish(store, claimed);
  while (await settleOnce(store));
  assert.deepEqual(store.read((r) => queries.counts(r)).counts.queued, 120);

  const other = await openTemp(t);
  await register(other.store);
  await add(other.store, {}, ...wide(1));
  await die(other.store);
  await retry(other.store, 1);
  // Its claim goes on with them; then it dies once more, before all are there.
  await die(other.store);
  while (await settleOnce(other.store));
  const { counts } = other.store.read((r) => queries.counts(r));
  assert.deepEqual([counts.blocked, counts.queued, counts.dead], [0, 0, 1]);
  assertSound(other.store);
});

test('over any graph: all that one death had settled is done in the end, each by one job', async (t) => {
  const graph = fc.array(
    fc.record({
      needs: fc.array(fc.nat(), { maxLength: 3 }),
      policy: fc.constantFrom<NeedPolicy>('cancel', 'dead', 'release'),
    }),
    { minLength: 1, maxLength: 14 },
  );
  await fc.assert(
    fc.asyncProperty(graph, fc.boolean(), async (nodes, twice) => {
      const cleanups: (() => unknown)[] = [];
      const { store } = await openTemp(
        { after: (fn) => cleanups.push(fn as () => unknown) },
        { folder: memoryFolder(t) },
      );
      try {
        await register(store);
        const ids = await add(
          store,
          { lane: 'root' },
          ...nodes.map(({ needs, policy }, at) => ({
            lane: 'rest',
            needs: [...new Set(needs.map((need) => (need % (at + 1)) + 1))].map((line) => ({ line })),
            onNeedFailure: policy,
          })),
        );
        for (let n = 0; n <= Number(twice); n++) {
          const [root] = (await claim(store, { lanes: ['root'] })) as [Claimed];
          await finish(store, root, { exitCode: 1 });
          while (await settleOnce(store));
          await retry(store, 1);
          while (await settleOnce(store));
          assertSound(store);
        }
        for (;;) {
          const [owner] = await claim(store);
          if (owner === undefined) break;
          await finish(store, owner);
        }
        assertSound(store);
        const inTheEnd = (id: number): string | null => {
          const reruns = rerunsOf(store, id);
          assert.ok(reruns.length <= 1, `job ${id} came back ${reruns.length} times`);
          return reruns.length === 0 ? stateOf(store, id) : inTheEnd(reruns[0] as number);
        };
        for (const id of ids) assert.equal(inTheEnd(id), 'done', `job ${id}: ${eventsOf(store, id).join(', ')}`);
      } finally {
        for (const cleanup of cleanups.toReversed()) await cleanup();
      }
    }),
    { numRuns: 30, interruptAfterTimeLimit: 20_000, endOnFailure: false },
  );
});

test('many named jobs are moved and rerun in bounded steps', async (t) => {
  const { store } = await openTemp(t);
  const ids = await add(store, ...Array.from({ length: 600 }, () => ({})));
  const bumped = await store.write((tx) => transitions.bump(tx, { jobs: ids, priority: 3, now: false }));
  assert.deepEqual([bumped.more, bumped.results.length <= MAX_TRANSITION_ROWS / 3], [true, true]);
  const rerun = await store.write((tx) => transitions.rerun(tx, ids));
  assert.deepEqual([rerun.more, rerun.ids.length, rerun.results.length], [true, 200, 200]);
  assertSound(store);
});
