/** Prerequisites: released, settled, revived, and all of it in steps that hold the lock for a moment only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claimed, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { add, addOne, assertSound, claim, eventsOf, finish, openTemp, register, stateOf, view } from './support.ts';

async function die(store: Store): Promise<void> {
  await finish(store, (await claim(store))[0] as Claimed, { exitCode: 1 });
}
const retry = (store: Store, id: number): Promise<ReturnType<typeof transitions.retry>> =>
  store.write((tx) => transitions.retry(tx, { selection: { ids: [id] }, force: false, withDependents: false }));
const states = (store: Store, ids: number[]): (string | null)[] => ids.map((id) => stateOf(store, id));

test('each policy settles in its way, along the whole chain, and says by whom', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const ids = await add(
    store,
    {},
    { needs: [{ line: 1 }] },
    { needs: [{ line: 2 }], onNeedFailure: 'dead' },
    { needs: [{ line: 3 }], onNeedFailure: 'release' },
    { needs: [{ line: 4 }, { line: 1 }], onNeedFailure: 'release' },
  );
  await die(store);
  assert.deepEqual(states(store, ids), ['dead', 'canceled', 'dead', 'queued', 'blocked']);
  assert.deepEqual(
    [2, 3].map((id) => [view(store, id)['reason'], view(store, id)['settled_by']]),
    [
      ['dependency', 1],
      ['dependency', 2],
    ],
  );
  assert.deepEqual(eventsOf(store, 4), ['added', 'released']);
  assertSound(store);
});

test('hundreds of dependents are settled in bounded steps, each exactly once', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, {}, ...Array.from({ length: 900 }, (_, n) => ({ needs: [{ line: n % 2 === 0 ? 1 : n + 1 }] })));
  const newest = (): number => store.read((r) => queries.cursor(r));
  const result = await finish(store, (await claim(store))[0] as Claimed, { exitCode: 1 });
  assert.equal(result.applied && result.settleMore, true);
  for (let before = newest(), more = true; more; before = newest()) {
    more = await store.write((tx) => transitions.settle(tx));
    assert.ok(newest() - before <= 250);
    assertSound(store);
  }
  assert.deepEqual(store.read((r) => queries.counts(r)).counts.canceled, 900);
  const doubled = store.read(({ db }) =>
    db.prepare(`SELECT job_id FROM job_events WHERE event_type = 'canceled' GROUP BY job_id HAVING count(*) > 1`).all(),
  );
  assert.deepEqual(doubled, []);
});

test('what one transaction left over, the next claim carries on', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, {}, ...Array.from({ length: 450 }, () => ({ needs: [{ line: 1 }] })));
  await finish(store, (await claim(store))[0] as Claimed);
  for (let n = 0; n < 4; n++) {
    const [owner] = (await claim(store)) as [Claimed];
    await finish(store, owner);
  }
  assert.equal(store.read((r) => queries.counts(r)).counts.blocked, 0);
  assertSound(store);
});

test('a retried job waits again for a need that is dead, runs when that is done, and not without one that is canceled', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const [need, other, job] = (await add(
    store,
    {},
    { lane: 'other' },
    { needs: [{ line: 1 }, { line: 2 }], onNeedFailure: 'dead' },
  )) as [number, number, number];
  await die(store);
  assert.equal(stateOf(store, job), 'dead');
  assert.equal((await retry(store, job)).results[0]?.state, 'blocked');
  assert.equal((await retry(store, need)).results[0]?.state, 'queued');
  for (const owner of await claim(store, { limit: 2 })) await finish(store, owner);
  assert.equal(stateOf(store, job), 'queued');
  await die(store);
  // Dead of its own; its needs are done, so it is simply queued again.
  assert.equal((await retry(store, job)).results[0]?.state, 'queued');

  const lost = await addOne(store, { needs: [job], onNeedFailure: 'dead' });
  await store.write((tx) => transitions.cancel(tx, { ids: [job] }));
  const [refused] = (await retry(store, lost)).results;
  assert.deepEqual([refused?.state, refused?.error?.code], ['dead', 'CONFLICT']);
  assert.match(refused?.error?.hint ?? '', /rerun/);
  assert.ok(other);
  assertSound(store);
});

test('a need that was let pass once is waited for when both run again', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const [need, job] = (await add(store, {}, { needs: [{ line: 1 }], onNeedFailure: 'release' })) as [number, number];
  await die(store);
  await die(store);
  assert.deepEqual(states(store, [need, job]), ['dead', 'dead']);
  await retry(store, need);
  assert.equal((await retry(store, job)).results[0]?.state, 'blocked');
  await die(store);
  assert.equal(stateOf(store, job), 'queued');
  assertSound(store);
});
