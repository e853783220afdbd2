/** claim and what guards it: order, ceilings, pauses, delays, workers, and the fence of every later write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Claimed, Owner, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { LEASE_MS } from '../../shared/limits.ts';
import {
  add,
  addOne,
  assertSound,
  claim,
  contents,
  end,
  eventsOf,
  finish,
  openTemp,
  register,
  registration,
  stateOf,
  view,
} from './support.ts';

const ids = (claimed: Claimed[]): number[] => claimed.map(({ jobId }) => jobId);
const slots = (store: Store, lane: string, count: number): Promise<void> =>
  store.write((tx) => transitions.setLane(tx, lane, { slots: count }));

test('highest priority first, then the order of adding, over all lanes', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await slots(store, 'a', 9);
  await slots(store, 'b', 9);
  await add(store, { lane: 'a' }, { lane: 'b', priority: 5 }, { lane: 'a', priority: 5 }, { lane: 'b' });
  clock.advance(1000);
  await add(store, { lane: 'a', priority: 9 }, { lane: 'b', priority: -1 });
  assert.deepEqual(ids(await claim(store, { limit: 10 })), [5, 2, 3, 1, 4, 6]);
  assertSound(store);
});

test("a lane gives as many as it has slots, fewer for a worker's own limit, whoever runs them", async (t) => {
  const { store } = await openTemp(t);
  await register(store, 'w1');
  await register(store, 'w2');
  await slots(store, 'wide', 3);
  await add(store, ...Array.from({ length: 5 }, () => ({ lane: 'wide' })), {}, {});
  assert.deepEqual(ids(await claim(store, { slots: 1, limit: 10 })), [1, 6]);
  assert.deepEqual(ids(await claim(store, { slots: 1, limit: 10, workerId: 'w2' })), []);
  const [second, third] = await claim(store, { limit: 10, workerId: 'w2' });
  assert.deepEqual([second?.jobId, third?.jobId], [2, 3]);
  // Lowered below what runs: nothing is stopped, nothing more is given.
  await slots(store, 'wide', 2);
  await finish(store, second as Claimed);
  assert.deepEqual(ids(await claim(store, { limit: 10 })), []);
  await finish(store, third as Claimed);
  assert.deepEqual(ids(await claim(store, { limit: 10 })), [4]);
  assertSound(store);
});

test('only the lanes a worker serves, none that is paused', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, { lane: 'a' }, { lane: 'b' }, { lane: 'c' });
  await store.write((tx) => transitions.pause(tx, ['c', 'c']));
  assert.deepEqual(ids(await claim(store, { lanes: ['b', 'c', 'none'], limit: 10 })), [2]);
  assert.deepEqual(ids(await claim(store, { limit: 10 })), [1]);
  await store.write((tx) => transitions.resume(tx, ['c']));
  assert.deepEqual(ids(await claim(store, { limit: 10 })), [3]);
  await assert.rejects(
    store.write((tx) => transitions.pause(tx, ['a', 'nowhere'])),
    { code: 'NOT_FOUND', message: /nowhere/ },
  );
  assert.equal(store.read((r) => queries.lane(r, 'a'))?.paused, false);
});

test('a delayed job is claimed once its time has come, whatever its priority before', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await add(store, { afterMs: 1000, priority: 9 }, { at: new Date(clock.now() + 2000).toISOString() }, {});
  const step = async (): Promise<number[]> => {
    const claimed = await claim(store, { limit: 10 });
    for (const owner of claimed) await finish(store, owner);
    return ids(claimed);
  };
  assert.deepEqual(await step(), [3]);
  clock.advance(999);
  assert.deepEqual(await step(), []);
  clock.advance(1);
  assert.deepEqual(await step(), [1]);
  clock.advance(10_000);
  assert.deepEqual(await step(), [2]);
  assertSound(store);
});

test('a claimed job carries all that is needed to run it', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store, 'w1', { host: 'h', bootId: 'b', pidNamespace: 'n' });
  const id = await addOne(store, { argv: ['make', ''], env: { HOME: '/other', X: 'y' }, timeoutMs: 9, maxRetries: 1 });
  const [owner] = await claim(store);
  assert.deepEqual(owner, {
    jobId: id,
    attempt: 1,
    workerId: 'w1',
    fence: 1,
    lane: 'default',
    argv: ['make', ''],
    cwd: '/tmp',
    env: { PATH: '/usr/bin', HOME: '/other', X: 'y' },
    umask: 0o022,
    timeoutMs: 9,
    cancelGraceMs: 10_000,
    split: false,
    idempotencyKey: `${store.instance}:${id}`,
  } satisfies Claimed);
  assert.equal(view(store, id)['state'], 'running');
  const started = { pid: 7, startTime: '70', stdoutPath: '/log', stderrPath: '/log' };
  assert.equal(await store.write((tx) => transitions.started(tx, owner as Claimed, started)), true);
  const attempt = store.read((r) => queries.attempt(r, id, null));
  assert.deepEqual([attempt?.pid, attempt?.stdoutPath, attempt?.workerId], [7, '/log', 'w1']);
  await finish(store, owner as Claimed, { exitCode: 3, stdoutBytes: 12 });
  clock.advance(60_000);
  const [again] = await claim(store);
  assert.deepEqual(
    [again?.attempt, again?.fence, again?.idempotencyKey, view(store, id)['failures']],
    [2, 2, owner?.idempotencyKey, 1],
  );
  assertSound(store);
});

test('who is not registered claims nothing', async (t) => {
  const { store } = await openTemp(t);
  await addOne(store);
  await assert.rejects(claim(store, { workerId: 'ghost' }), { code: 'CONFLICT' });
  assert.deepEqual(eventsOf(store, 1), ['added']);
});

test('a write that names another attempt, worker or fence changes nothing at all', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await addOne(store);
  const [owner] = (await claim(store)) as [Claimed];
  const before = contents(store);
  const process = { pid: 1, startTime: null, stdoutPath: 'x', stderrPath: 'x' };
  const stale: Owner[] = [
    { ...owner, attempt: 2 },
    { ...owner, workerId: 'w2' },
    { ...owner, fence: 0 },
    { ...owner, fence: 2 },
    { ...owner, jobId: 99 },
  ];
  for (const other of stale) {
    assert.deepEqual(await store.write((tx) => transitions.finish(tx, other, end())), { applied: false });
    assert.deepEqual(await store.write((tx) => transitions.closeReaped(tx, other)), { applied: false });
    assert.equal(await store.write((tx) => transitions.started(tx, other, process)), false);
    assert.equal(await store.write((tx) => transitions.takeOver(tx, other, 'w9')), null);
    await assert.rejects(
      store.write((tx) => transitions.checkpoint(tx, other, 'c', new Uint8Array())),
      { code: 'CONFLICT' },
    );
    await assert.rejects(
      store.write((tx) => transitions.sleep(tx, other, 's', 1)),
      { code: 'CONFLICT' },
    );
  }
  assert.deepEqual(contents(store), before);
  assert.equal((await finish(store, owner)).applied, true);
  assert.deepEqual(await store.write((tx) => transitions.finish(tx, owner, end())), { applied: false });
});

test('a heartbeat renews every lease; a worker that owns a job stays, one that is gone is told', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await slots(store, 'default', 2);
  await add(store, {}, {});
  const [first, second] = (await claim(store, { limit: 2 })) as [Claimed, Claimed];
  clock.advance(5000);
  assert.equal(await store.write((tx) => transitions.heartbeat(tx, 'w1')), true);
  const leases = store.read(({ db }) => db.prepare('SELECT lease_until FROM job_runtime').pluck().all());
  assert.deepEqual(leases, [clock.now() + LEASE_MS, clock.now() + LEASE_MS]);
  await finish(store, first);
  await store.write((tx) => transitions.removeWorker(tx, 'w1'));
  assert.equal(store.read((r) => queries.workers(r)).length, 1);
  await finish(store, second);
  await store.write((tx) => transitions.removeWorker(tx, 'w1'));
  assert.equal(await store.write((tx) => transitions.heartbeat(tx, 'w1')), false);
});

test('a reap: the old owner is shut out, then the attempt is closed and its crash counted, until it is dead', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store, 'w1');
  await store.write((tx) => transitions.registerWorker(tx, registration('reaper', { kind: 'server' })));
  const id = await addOne(store, { maxCrashes: 1 });
  for (const [state, crashes] of [
    ['queued', 1],
    ['dead', 2],
  ] as const) {
    const [owner] = (await claim(store)) as [Claimed];
    const taken = (await store.write((tx) => transitions.takeOver(tx, owner, 'reaper'))) as Owner;
    assert.deepEqual(taken, { jobId: id, attempt: owner.attempt, workerId: 'reaper', fence: owner.fence + 1 });
    assert.deepEqual(await store.write((tx) => transitions.finish(tx, owner, end())), { applied: false });
    assertSound(store);
    const sizes = { stdoutBytes: 10, stderrBytes: 10 };
    const closed = await store.write((tx) => transitions.closeReaped(tx, taken, sizes));
    assert.deepEqual(closed, {
      applied: true,
      attemptState: 'abandoned',
      jobState: state,
      settleMore: false,
    });
    assert.deepEqual([view(store, id)['crashes'], view(store, id)['failures']], [crashes, 0]);
    clock.advance(2000);
  }
  assert.equal(stateOf(store, id), 'dead');
  assert.deepEqual(eventsOf(store, id), ['added', 'claimed', 'reaped', 'retried', 'claimed', 'reaped', 'dead']);
  assertSound(store);
});
