/** A worker's life: slots, trouble, clocks that step, drain and stop. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import { test } from 'node:test';
import { systemClock } from '../../server/clock.ts';
import type { Spawn } from '../../server/run/spawn.ts';
import { explainSpawnFailure } from '../../server/run/spawnFailure.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { LanewayError } from '../../shared/errors.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { openRunQueue, runningBelow, until } from './run-support.ts';

test('a worker runs no more jobs at once than its concurrency, and refills each slot', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker({ concurrency: 2 });
  const ids: number[] = [];
  for (let job = 0; job < 5; job += 1) ids.push(await queue.sh(until(queue.file(`go${job}`)), { lane: `lane${job}` }));
  const running = () => ids.filter((id) => queue.job(id).state === 'running');
  await waitFor(() => running().length === 2);
  assert.equal(worker.running(), 2);
  for (let job = 0; job < 5; job += 1) {
    fs.writeFileSync(queue.file(`go${job}`), '');
    await queue.ended(ids[job] ?? 0);
    assert.ok(running().length <= 2);
  }
  worker.setConcurrency(5);
  await waitFor(() => queue.store.read((r) => queries.workers(r))[0]?.concurrency === 5, { what: 'status to say so' });
  const more = [await queue.sh('exit 0'), await queue.sh('exit 0', { lane: 'other' })];
  for (const id of more) assert.equal((await queue.ended(id)).state, 'done');
  assert.equal(worker.finished.length, 7);
  assert.deepEqual(Object.keys(worker.finished[0] ?? {}).sort(), [
    'attempt',
    'durationMs',
    'exitCode',
    'jobId',
    'jobState',
    'state',
  ]);
});

test('what the machine lacks spends no budget; the worker says so, claims nothing, and goes on by itself', async (t) => {
  const queue = await openRunQueue(t);
  let lacking = true;
  const facts = { program: 'x', cwd: '/', cwdState: 'folder', found: { kind: 'missing' } } as const;
  const wrapSpawn =
    (real: Spawn): Spawn =>
    (request) =>
      lacking
        ? { started: false, failure: Promise.resolve(explainSpawnFailure('EAGAIN', 'fork', facts)) }
        : real(request);
  const worker = await queue.worker({}, { wrapSpawn });
  // The temporary folder of whoever started the worker may be long gone.
  const { TMPDIR = os.tmpdir() } = process.env;
  process.env['TMPDIR'] = '/no/such/folder';
  t.after(() => (process.env['TMPDIR'] = TMPDIR));
  const first = await queue.sh('exit 0', { retryDelayMs: 1 });
  await waitFor(() => worker.troubles[0]);
  assert.match(worker.troubles[0] ?? '', /limit of processes.*EAGAIN/);
  const second = await queue.sh('exit 0', { lane: 'other' });
  await waitFor(() => queue.attempts(first)[0]?.state === 'abandoned');
  const waiting = queue.job(first);
  assert.deepEqual([waiting.state, waiting.failures, waiting.crashes, waiting.attempts], ['queued', 0, 0, 1]);
  assert.equal(queue.job(second).attempts, 0);
  lacking = false;
  assert.equal((await queue.ended(first)).state, 'done');
  assert.equal((await queue.ended(second)).state, 'done');
  assert.equal(queue.attempts(first).length, 2);
  assert.deepEqual([worker.troubles.length, worker.troubles.at(-1)], [2, null]);
});

test('a log folder that cannot be written is trouble of the machine, not of the job', async (t) => {
  const queue = await openRunQueue(t);
  fs.writeFileSync(queue.logs, 'a file where the folder should be');
  const worker = await queue.worker();
  const id = await queue.sh('exit 0', { retryDelayMs: 1 });
  await waitFor(() => worker.troubles[0]);
  assert.match(worker.troubles[0] ?? '', /cannot open its log/);
  fs.rmSync(queue.logs);
  assert.equal((await queue.ended(id)).state, 'done');
  assert.equal(queue.job(id).failures, 0);
});

test('a clock that steps neither loses a due job nor ends a timed one', async (t) => {
  let offset = 0;
  const clock = { now: () => Date.now() + offset, ticks: () => systemClock.ticks() };
  const queue = await openRunQueue(t, clock);
  await queue.worker({}, { heartbeatMs: 30, leaseMs: 60_000 });
  const timed = await queue.sh(until(queue.file('go')), { timeoutMs: 3_600_000 });
  const later = await queue.sh('exit 0', { afterMs: 3_600_000, lane: 'later' });
  await waitFor(() => queue.job(timed).state === 'running');
  assert.equal(queue.job(later).state, 'queued');
  offset = 2 * 3_600_000;
  assert.equal((await queue.ended(later)).state, 'done');
  assert.equal(queue.job(timed).state, 'running');
  offset = -24 * 3_600_000;
  const next = await queue.sh('exit 0', { lane: 'now' });
  assert.equal((await queue.ended(next)).state, 'done');
  fs.writeFileSync(queue.file('go'), '');
  assert.equal((await queue.ended(timed)).state, 'done');
});

test('a job that becomes due is started by the timer alone', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker({}, { heartbeatMs: 600_000 });
  const id = await queue.sh('exit 0', { afterMs: 400 });
  assert.equal((await queue.ended(id)).state, 'done');
});

test('drain claims no more and waits for what runs', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker();
  const running = await queue.sh(until(queue.file('go')));
  await waitFor(() => queue.job(running).state === 'running');
  let drained = false;
  const draining = worker.drain().then(() => {
    drained = true;
  });
  const late = await queue.sh('exit 0', { lane: 'late' });
  const waiting = await queue.sh('exit 0', { lane: 'other', afterMs: 100 });
  await waitFor(() => queue.job(waiting).phase === 'ready');
  assert.equal(drained, false);
  fs.writeFileSync(queue.file('go'), '');
  await draining;
  assert.equal(queue.job(running).state, 'done');
  assert.deepEqual([queue.job(waiting).state, queue.job(late).state], ['queued', 'queued']);
  await worker.stop({ graceful: true });
  assert.deepEqual(
    queue.store.read((reader) => queries.workers(reader)),
    [],
  );
});

test('a hard stop ends the groups with their grace and hands the jobs back, budgets untouched', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker();
  const text = `[ $LANEWAY_ATTEMPT = 2 ] && exit 0
    trap 'echo cleaned > cleaned; exit 1' TERM; touch ready; while :; do sleep 0.02; done`;
  const id = await queue.sh(text);
  await waitFor(() => fs.existsSync(queue.file('ready')));
  // First kindly, then, while that waits, not.
  const kindly = worker.stop({ graceful: true });
  await Promise.all([worker.stop({ graceful: false }), kindly]);
  assert.equal(queue.text('cleaned'), 'cleaned\n');
  const job = queue.job(id);
  assert.deepEqual([job.state, job.failures, job.crashes], ['queued', 0, 0]);
  assert.equal(queue.attempt(id).state, 'abandoned');
  assert.deepEqual(runningBelow(queue.root), []);
  await queue.worker();
  assert.equal((await queue.ended(id)).state, 'done');
});

test('a worker for one attempt runs one, and says when it is through', async (t) => {
  const queue = await openRunQueue(t);
  const ids = [await queue.sh('exit 0'), await queue.sh('exit 0')];
  let idle = 0;
  const worker = await queue.worker({ maxAttempts: 1, onIdle: () => (idle += 1) });
  await queue.ended(ids[0] ?? 0);
  await waitFor(() => idle > 0);
  await worker.drain();
  assert.equal(queue.job(ids[1] ?? 0).state, 'queued');
  assert.equal(worker.finished.length, 1);
});

test('a worker of some lanes leaves the others alone', async (t) => {
  const queue = await openRunQueue(t);
  const other = await queue.sh('exit 0', { lane: 'b' });
  await queue.worker({ lanes: ['a'] });
  const own = await queue.sh('exit 0', { lane: 'a' });
  assert.equal((await queue.ended(own)).state, 'done');
  assert.equal(queue.job(other).state, 'queued');
});

test('a forced retry stops the running attempt and starts another', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const id = await queue.sh(`[ $LANEWAY_ATTEMPT = 2 ] && exit 0; touch ready; exec sleep 600`);
  await waitFor(() => fs.existsSync(queue.file('ready')));
  const args = { selection: { ids: [id] }, force: true, withDependents: false };
  await queue.store.write((tx) => transitions.retry(tx, args));
  assert.equal((await queue.ended(id)).state, 'done');
  assert.deepEqual(
    queue.attempts(id).map(({ state }) => state),
    ['canceled', 'succeeded'],
  );
});

test('jobs that run on another host or in another namespace keep a worker from starting', async (t) => {
  for (const foreign of [{ host: 'elsewhere', bootId: 'x', pidNamespace: 'y' }, { pidNamespace: 'pid:[1]' }] as const) {
    const queue = await openRunQueue(t);
    const host = { host: 'here', bootId: 'boot', pidNamespace: 'pid:[2]' };
    await queue.worker({ host: { ...host, ...foreign } });
    const id = await queue.sh('touch ready; exec sleep 600');
    await waitFor(() => fs.existsSync(queue.file('ready')));
    await assert.rejects(queue.worker({ host }), (error) => {
      assert.ok(error instanceof LanewayError && error.code === 'ENVIRONMENT');
      assert.match(error.message, new RegExp(`job ${id} of this queue is running`));
      return true;
    });
    assert.equal(queue.job(id).state, 'running');
  }
});

test('a database that can no longer be written does not keep a worker from being stopped hard', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker();
  await queue.sh('touch ready; exec sleep 600');
  await waitFor(() => fs.existsSync(queue.file('ready')));
  queue.store.write = () => Promise.reject(new LanewayError('ENVIRONMENT', 'the disk is full'));
  await worker.stop({ graceful: false });
  assert.deepEqual(runningBelow(queue.root), []);
  assert.match(worker.log.join('\n'), /its end is not recorded: the disk is full[\s\S]*still on the list/);
});
