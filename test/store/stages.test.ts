/** What a running job records of itself: finished stages, and sleeps that outlive its process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claimed } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { addOne, assertSound, claim, end, eventsOf, finish, openTemp, register, stateOf, view } from './support.ts';

test('stages are kept once under their name, within their size, and survive a retry', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const id = await addOne(store);
  const [owner] = (await claim(store)) as [Claimed];
  const stage = (name: string, stdout: Uint8Array): Promise<void> =>
    store.write((tx) => transitions.checkpoint(tx, owner, name, stdout));
  const bytes = new Uint8Array([0, 255, 10]);
  await stage('build', bytes);
  await assert.rejects(stage('build', bytes), { code: 'CONFLICT' });
  await assert.rejects(stage('big', new Uint8Array(1_048_577)), { code: 'INVALID_INPUT', message: /1048577.*1048576/ });
  await store.write((tx) => transitions.sleep(tx, owner, 'nap', 5));
  await assert.rejects(stage('nap', bytes), { code: 'CONFLICT' });
  await assert.rejects(
    store.write((tx) => transitions.sleep(tx, owner, 'build', 5)),
    { code: 'CONFLICT' },
  );
  await finish(store, owner, { kind: 'timed_out', exitCode: 1 });
  await store.write((tx) => transitions.retry(tx, { selection: { ids: [id] }, force: false, withDependents: false }));
  assert.deepEqual(Uint8Array.from(store.read((r) => queries.checkpointOutput(r, id, 'build')) ?? []), bytes);
  assert.deepEqual(eventsOf(store, id).slice(1, 3), ['claimed', 'checkpointed']);
  assertSound(store);
});

test('a durable sleep: recorded, slept without spending a budget, over on the next run, however early', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const id = await addOne(store);
  const nap = (owner: Claimed): Promise<{ elapsed: boolean; until: number }> =>
    store.write((tx) => transitions.sleep(tx, owner, 'nap', 10_000));
  const until = clock.now() + 10_000;
  const [first] = (await claim(store)) as [Claimed];
  assert.deepEqual(await nap(first), { elapsed: false, until });
  const slept = await finish(store, first, { exitCode: 75 });
  assert.deepEqual(slept, {
    applied: true,
    attemptState: 'succeeded',
    jobState: 'queued',
    settleMore: false,
  });
  assert.deepEqual(await claim(store), []);
  const listed = () => store.read((r) => queries.checkpoints(r, id));
  const nothing = { name: 'nap', attempt: 1, at: new Date(until - 10_000).toISOString(), bytes: 0, kind: 'sleep' };
  assert.deepEqual(listed(), [{ ...nothing, until: new Date(until).toISOString() }]);
  clock.advance(2000);
  await store.write((tx) => transitions.bump(tx, { jobs: [id], priority: null, now: true }));
  const [second] = (await claim(store)) as [Claimed];
  assert.equal((await nap(second)).elapsed, true);
  assert.deepEqual(listed(), [{ ...nothing, until: new Date(clock.now()).toISOString() }], 'resumed early');
  // Without a sleep of its own, this run's failure is one.
  assert.equal((await finish(store, second, { exitCode: 1 })).applied, true);
  assert.deepEqual([stateOf(store, id), view(store, id)['failures']], ['dead', 1]);
  assert.deepEqual(eventsOf(store, id).slice(-6), ['claimed', 'slept', 'rescheduled', 'claimed', 'failed', 'dead']);
  assertSound(store);
});

test('a sleep that a crash cut short is slept on', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await addOne(store);
  const [first] = (await claim(store)) as [Claimed];
  const { until } = await store.write((tx) => transitions.sleep(tx, first, 'nap', 60_000));
  await store.write((tx) => transitions.closeReaped(tx, first));
  clock.advance(2000);
  const [second] = (await claim(store)) as [Claimed];
  assert.deepEqual(await store.write((tx) => transitions.sleep(tx, second, 'nap', 60_000)), { elapsed: false, until });
  assert.equal(store.read((r) => queries.checkpoints(r, 1)).length, 1);
  assert.equal((await store.write((tx) => transitions.finish(tx, second, end()))).applied, true);
  assert.equal(stateOf(store, 1), 'done');
  assert.deepEqual(
    store.read((r) => queries.checkpoints(r, 1)),
    [],
    'never slept',
  );
  assertSound(store);
});
