/** What workers ask, and what others make of a worker's life. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as queries from '../../server/store/queries/index.ts';
import { LEASE_MS } from '../../shared/limits.ts';
import { add, addOne, claim, finish, openTemp, raw, register } from './support.ts';

test('what workers ask: when to look again', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const nextDue = (lanes: string[] | null) => store.read((r) => queries.nextDue(r, lanes));
  assert.equal(nextDue(null), null);
  await add(
    store,
    { lane: 'a', afterMs: 9000 },
    { lane: 'b', afterMs: 3000 },
    { lane: 'c', afterMs: 6000 },
    { lane: 'a' },
  );
  const now = clock.now();
  assert.equal(nextDue(null), now + 3000);
  assert.equal(nextDue(['a', 'c']), now + 6000);
  assert.equal(nextDue(['d']), null);
  raw(store).exec(`UPDATE lanes SET paused = 1 WHERE name = 'b'`);
  assert.equal(nextDue(null), now + 6000);
  await add(store, ...Array.from({ length: 1000 }, () => ({ lane: 'b', afterMs: 4000 })));
  assert.equal(nextDue(null), now + 4000, 'early rather than a look through all of them');
});

test('what workers ask: whether to stay', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const drainable = (lanes: string[] | null = null) => store.read((r) => queries.drainable(r, lanes));
  const anyLive = () => store.read((r) => queries.anyLive(r));
  assert.deepEqual([drainable(), anyLive()], [false, false]);
  await add(store, { lane: 'later', afterMs: 5000 });
  assert.deepEqual([drainable(), anyLive()], [false, true]);
  clock.advance(5000);
  assert.equal(drainable(), true, 'due by now, though no claim has looked');
  raw(store).exec('UPDATE lanes SET paused = 1');
  assert.equal(drainable(), false, 'due, but paused');
  await add(store, { lane: 'a', maxRetries: 1 });
  assert.deepEqual([drainable(), drainable(['a']), drainable(['later'])], [true, true, false]);
  const [owner] = await claim(store, { lanes: ['a'] });
  assert.ok(owner);
  raw(store).exec('UPDATE lanes SET paused = 1');
  assert.equal(drainable(['a']), true, 'running, paused or not');
  await finish(store, owner, { exitCode: 1 });
  assert.equal(drainable(['a']), false, 'backing off, but paused');
  raw(store).exec('UPDATE lanes SET paused = 0');
  assert.equal(drainable(['a']), true, 'backing off');
});

test('what workers ask: who owns what', async (t) => {
  const { store } = await openTemp(t);
  await register(store, 'w1', { pid: 11, startTime: 's1' });
  await register(store, 'w2');
  await add(store, { lane: 'a' }, { lane: 'b' });
  const [first] = await claim(store, { workerId: 'w1' });
  await claim(store, { workerId: 'w2' });
  assert.ok(first);
  raw(store).exec('UPDATE job_runtime SET cancel_requested_at = 1 WHERE job_id = 1');
  const [running] = store.read((r) => queries.runningAttempts(r));
  assert.deepEqual(running, {
    jobId: 1,
    attempt: 1,
    workerId: 'w1',
    fence: 1,
    host: 'host',
    bootId: 'boot',
    pidNamespace: 'ns',
    pid: null,
    pidStartTime: null,
    cancelGraceMs: 10_000,
  });
  const owned = (id: string) => store.read((r) => queries.ownedState(r, id));
  assert.deepEqual(owned('w1'), [{ jobId: 1, attempt: 1, fence: 1, cancelRequested: true }]);
  assert.deepEqual(
    owned('w2').map((each) => [each.jobId, each.cancelRequested]),
    [[2, false]],
  );
  raw(store).exec(`DELETE FROM workers WHERE id = 'w1'`);
  assert.deepEqual(
    store.read((r) => queries.runningAttempts(r)).map((each) => [each.jobId, each.workerId]),
    [
      [1, 'w1'],
      [2, 'w2'],
    ],
  );
  assert.deepEqual(
    store.read((r) => queries.workers(r)).map((worker) => [worker.id, worker.running]),
    [['w2', 1]],
  );
});

test('a worker that shows no life for a lease is none that a job waits for', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await addOne(store);
  const reason = () => store.read((r) => queries.job(r, 1))?.waitReason;
  assert.equal(reason(), 'about to start');
  clock.advance(LEASE_MS);
  assert.equal(reason(), 'no worker');
});
