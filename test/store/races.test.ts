/** Several processes and connections at one queue: one wins, the others change nothing. */
import assert from 'node:assert/strict';
import test from 'node:test';
import * as transitions from '../../server/store/transitions/index.ts';
import {
  add,
  assertSound,
  bundleProgram,
  claim,
  end,
  eventsOf,
  finish,
  job,
  openTemp,
  register,
  runProgram,
  stateOf,
} from './support.ts';

test('three processes claim from one queue: every job once, and no lane over its ceiling', async (t) => {
  const { store, folder } = await openTemp(t);
  await store.write((tx) => transitions.setLane(tx, 'wide', { slots: 4 }));
  await add(store, ...Array.from({ length: 60 }, () => job({ lane: 'wide' })));
  const racer = await bundleProgram(t, 'racer.ts');
  const raced = (await Promise.all(['a', 'b', 'c'].map((id) => runProgram(racer, folder, id)))) as {
    claimed: number[];
    most: number;
  }[];
  assert.deepEqual(
    raced.flatMap(({ claimed }) => claimed).sort((a, b) => a - b),
    Array.from({ length: 60 }, (_, n) => n + 1),
  );
  assert.ok(raced.every(({ most }) => most <= 4));
  assertSound(store);
});

test('two connections claim the only job at the same moment: exactly one gets it', async (t) => {
  const { store, folder } = await openTemp(t);
  const { store: other } = await openTemp(t, { folder });
  await register(store, 'w1');
  await register(other, 'w2');
  for (let round = 0; round < 20; round++) {
    await add(store);
    const both = await Promise.all([claim(store), claim(other, { workerId: 'w2' })]);
    assert.equal(both.flat().length, 1);
    await finish(store, both.flat()[0] as (typeof both)[0][0]);
  }
});

test('needs that end at once in two connections release their dependent exactly once', async (t) => {
  const { store, folder } = await openTemp(t);
  const { store: other } = await openTemp(t, { folder });
  await store.write((tx) => transitions.setLane(tx, 'wide', { slots: 8 }));
  await register(store);
  const needs = await add(store, ...Array.from({ length: 8 }, () => job({ lane: 'wide' })));
  const [fanIn] = await add(store, job({ lane: 'wide', needs }));
  const owners = await claim(store, { limit: 8 });
  await Promise.all(owners.map((owner, n) => finish(n % 2 === 0 ? store : other, owner)));
  assert.equal(stateOf(store, fanIn as number), 'queued');
  assert.deepEqual(eventsOf(store, fanIn as number), ['added', 'released']);
  assertSound(store);
});

test('owner and reaper end the same attempt: whoever is first decides, the other changes nothing', async (t) => {
  const { store, folder } = await openTemp(t);
  const { store: other } = await openTemp(t, { folder });
  await register(store, 'w1');
  await register(other, 'w2');
  for (let round = 0; round < 10; round++) {
    await add(store);
    const [owner] = await claim(store);
    assert.ok(owner);
    const [finished, taken] = await Promise.all([
      finish(store, owner),
      other.write((tx) => transitions.takeOver(tx, owner, 'w2')),
    ]);
    assert.equal(finished.applied, taken === null);
    if (taken !== null) {
      // The displaced owner stays displaced, also after the reaper has closed the attempt.
      const closed = await other.write((tx) => transitions.closeReaped(tx, taken));
      assert.equal(closed.applied, true);
      assert.deepEqual(await store.write((tx) => transitions.finish(tx, owner, end())), { applied: false });
      await store.write((tx) => transitions.cancel(tx, { ids: [owner.jobId] }));
    }
  }
  assertSound(store);
});
