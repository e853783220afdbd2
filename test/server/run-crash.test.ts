/**
 * Workers that die or stand still: at every named instant, with their jobs running. In each case the
 * job ends as it should, its budgets tell what happened, and no two copies of it ever ran at once.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import type { PointName } from '../../server/run/points.ts';
import * as queries from '../../server/store/queries/index.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { isAlive, openRunQueue, runningBelow } from './run-support.ts';
import type { RunQueue } from './run-support.ts';

/** The first attempt does as told; a later one first looks whether any earlier copy still lives. */
const job = (first: string) => `
  for p in copy.*; do
    [ -e "$p" ] && grep -qs '^State:.[^Z]' /proc/\${p#copy.}/status && echo $p >> overlap
  done
  touch copy.$$
  [ $LANEWAY_ATTEMPT != 1 ] && exit 0
  ${first}`;

const gone = (child: ChildProcess) =>
  waitFor(() => child.exitCode !== null || child.signalCode !== null, { what: 'the worker to die' });

async function assertSettled(queue: RunQueue, id: number, crashes: number): Promise<void> {
  const { state, crashes: counted, failures } = await queue.ended(id);
  assert.deepEqual([state, counted, failures], ['done', crashes, 0]);
  assert.equal(queue.text('overlap'), '');
  const checks = queue.store.read((reader) => queries.check(reader, true));
  assert.deepEqual(
    checks.filter(({ status }) => status === 'fail'),
    [],
  );
}

describe('crashes', { concurrency: 4 }, () => {
  test('a worker killed with its job running: the orphan is killed before the rerun', async (t) => {
    const queue = await openRunQueue(t);
    const child = await queue.workerProcess();
    const id = await queue.sh(job(`echo of the first; (sleep 600 & wait) & touch ready; sleep 600`), {
      retryDelayMs: 1,
    });
    await waitFor(() => fs.existsSync(queue.file('ready')) && queue.attempt(id).pid);
    const leader = queue.attempt(id).pid ?? 0;
    child.kill('SIGKILL');
    await gone(child);
    assert.ok(isAlive(leader), 'a job outlives its worker');
    await queue.worker();
    await assertSettled(queue, id, 1);
    assert.equal(isAlive(leader), false);
    const [first] = queue.attempts(id);
    assert.deepEqual([first?.state, first?.failureReason, first?.stdoutBytes], ['abandoned', 'worker_crash', 13]);
    assert.deepEqual(
      queue.store.read((reader) => queries.workers(reader)).map(({ kind }) => kind),
      ['server'],
    );
  });

  test('a job whose worker dies each time ends dead', async (t) => {
    const queue = await openRunQueue(t);
    const id = await queue.sh('exec sleep 600', { retryDelayMs: 1, maxCrashes: 1 });
    for (const attempt of [1, 2]) {
      const child = await queue.workerProcess();
      await waitFor(() => queue.job(id).attempts === attempt && queue.attempt(id).pid);
      child.kill('SIGKILL');
      await gone(child);
    }
    await queue.worker();
    const { state, failureReason, crashes } = await queue.ended(id);
    assert.deepEqual([state, failureReason, crashes], ['dead', 'worker_crash', 2]);
    assert.deepEqual(runningBelow(queue.root), []);
  });

  const running = 'exec sleep 600';
  const instants: { point: PointName; first: string; crashes: number }[] = [
    { point: 'claim:before', first: 'exit 0', crashes: 0 },
    { point: 'claim:after', first: running, crashes: 1 },
    { point: 'spawn:before', first: running, crashes: 1 },
    { point: 'spawn:after', first: running, crashes: 1 },
    { point: 'started:after', first: running, crashes: 1 },
    { point: 'exit:before-finish', first: 'exit 0', crashes: 1 },
    { point: 'finish:after', first: 'exit 0', crashes: 0 },
  ];
  for (const { point, first, crashes } of instants) {
    test(`killed at ${point}`, async (t) => {
      const queue = await openRunQueue(t);
      const id = await queue.sh(job(first), { retryDelayMs: 1 });
      const child = await queue.workerProcess({ points: `${point}=kill` });
      await gone(child);
      assert.equal(child.signalCode, 'SIGKILL');
      await queue.worker();
      await assertSettled(queue, id, crashes);
      assert.deepEqual(runningBelow(queue.root), []);
    });
  }

  for (const point of ['reap:before', 'reap:taken', 'reap:killed', 'reap:after'] as const) {
    test(`a reaper killed at ${point} is itself reaped`, async (t) => {
      const queue = await openRunQueue(t);
      const id = await queue.sh(job(running), { retryDelayMs: 1 });
      const first = await queue.workerProcess();
      await waitFor(() => queue.job(id).state === 'running' && queue.attempt(id).pid);
      first.kill('SIGKILL');
      await gone(first);
      const reaper = await queue.workerProcess({ points: `${point}=kill` });
      await gone(reaper);
      await queue.worker();
      await assertSettled(queue, id, 1);
      assert.deepEqual(runningBelow(queue.root), []);
    });
  }

  for (const point of ['cancel:before-term', 'cancel:after-term', 'cancel:gone'] as const) {
    test(`a cancel survives a worker killed at ${point}`, async (t) => {
      const queue = await openRunQueue(t);
      const id = await queue.sh(`trap 'sleep 0.2; exit 1' TERM; touch ready; while :; do sleep 0.02; done`);
      const child = await queue.workerProcess({ points: `${point}=kill` });
      await waitFor(() => fs.existsSync(queue.file('ready')) && queue.attempt(id).pid);
      await queue.cancel(id);
      await gone(child);
      await queue.worker();
      const { state, failureReason } = await queue.ended(id);
      assert.deepEqual([state, failureReason], ['canceled', 'canceled']);
      assert.deepEqual(runningBelow(queue.root), []);
    });
  }

  test('a worker that stood still while its job was taken over changes nothing, and goes on', async (t) => {
    const queue = await openRunQueue(t);
    // It stops itself between two transactions: stopped inside of one it would keep everybody from writing.
    const child = await queue.workerProcess({ heartbeatMs: 50, points: 'started:after=pause' });
    const log: string[] = [];
    const finished: { jobId: number }[] = [];
    child.on('message', (message: { log?: string; finished?: { jobId: number } }) => {
      if (message.log !== undefined) log.push(message.log);
      if (message.finished !== undefined) finished.push(message.finished);
    });
    const id = await queue.sh(job(running), { retryDelayMs: 1 });
    await waitFor(() => /\) T /.test(fs.readFileSync(`/proc/${child.pid}/stat`, 'utf8')), {
      what: 'the worker to stop',
    });
    const before = queue.attempt(id);
    const worker = await queue.worker({}, { heartbeatMs: 50, leaseMs: 300 });
    await assertSettled(queue, id, 1);
    const events = queue.store.read((reader) => queries.events(reader, { since: 0, jobId: id, limit: 100 }).events);
    child.kill('SIGCONT');
    await waitFor(() => log.some((line) => line.includes('another owner')), { what: 'the late end to be discarded' });
    assert.equal(finished.length, 0);
    assert.deepEqual(
      queue.store.read((reader) => queries.events(reader, { since: 0, jobId: id, limit: 100 }).events),
      events,
    );
    const [first, second] = queue.attempts(id);
    assert.deepEqual([first?.state, second?.state], ['abandoned', 'succeeded']);
    assert.equal(first?.pid, before.pid);
    // It starts afresh: with the other one gone it runs what comes next.
    await worker.stop({ graceful: true });
    const next = await queue.sh('exit 0');
    await waitFor(() => finished.some(({ jobId }) => jobId === next));
  });
});
