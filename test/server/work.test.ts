/** `lane work`, `--direct` and the in-job verbs: the queue without a server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock as clock } from '../../server/clock.ts';
import { openDirect } from '../../server/direct.ts';
import { readCheckpoint, recordSleep, writeCheckpoint } from '../../server/inJob.ts';
import { work } from '../../server/work.ts';
import type { Connection } from '../../shared/connection.ts';
import type { LanewayError } from '../../shared/errors.ts';
import type { AddRequest, Job } from '../../shared/job.ts';
import { heartbeatOf } from '../../server/makeWorker.ts';
import { HEARTBEAT_MS, LEASE_MS } from '../../shared/limits.ts';
import * as P from '../../shared/protocol.ts';
import type { InJob, WorkOptions } from '../../shared/serverModule.ts';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

type Line = Parameters<WorkOptions['onFinished']>[0];

async function open(box: Sandbox, execute = false): Promise<Connection> {
  const options = { workspace: box.workspace, env: box.env, clock, warn: () => undefined, execute };
  const connection = await openDirect(options);
  box.defer(() => connection.close());
  return connection;
}

async function add(connection: Connection, ...jobs: AddRequest[]): Promise<Job[]> {
  const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o022 };
  return (await connection.request(P.Add, { jobs, caller })).jobs;
}

/** A foreground worker in this process. */
function worker(
  box: Sandbox,
  options: Partial<WorkOptions>,
): { lines: Line[]; ended: Promise<void>; drain(): void; stop(): void } {
  const lines: Line[] = [];
  const drain = new AbortController();
  const stop = new AbortController();
  const ended = work(
    {
      workspace: box.workspace,
      lanes: null,
      slots: null,
      concurrency: 2,
      once: false,
      drain: false,
      idleTimeoutMs: null,
      onFinished: (line) => lines.push(line),
      drainSignal: drain.signal,
      stopSignal: stop.signal,
      ...options,
    },
    { env: box.env, clock, warn: () => undefined },
  );
  return { lines, ended, drain: () => drain.abort(), stop: () => stop.abort() };
}

describe('a foreground worker', () => {
  it('a heartbeat is shortened by a sensible number alone', () => {
    for (const rubbish of [undefined, '', 'soon', '-5', '0', '0.001', 'Infinity', '1e99', 'NaN']) {
      assert.deepEqual(heartbeatOf({ LANEWAY_TEST_HEARTBEAT_MS: rubbish }), {
        heartbeatMs: HEARTBEAT_MS,
        leaseMs: LEASE_MS,
      });
    }
    assert.deepEqual(heartbeatOf({ LANEWAY_TEST_HEARTBEAT_MS: '100' }), { heartbeatMs: 100, leaseMs: 600 });
  });

  it('--once runs one attempt and ends', async (t) => {
    const box = sandbox(t);
    const queue = await open(box);
    await add(queue, { argv: ['true'] }, { argv: ['true'] });
    const { lines, ended } = worker(box, { once: true });
    await ended;
    assert.deepEqual(
      lines.map(({ jobId, state, exitCode, jobState }) => [jobId, state, exitCode, jobState]),
      [[1, 'succeeded', 0, 'done']],
    );
    assert.equal((await queue.request(P.StatusRequest, null)).workers.length, 0, 'it took itself off the list');
  });

  it('--drain runs what is due in its lanes, retries included, and leaves the rest', async (t) => {
    const box = sandbox(t);
    const queue = await open(box);
    await add(
      queue,
      { argv: ['sh', '-c', '[ "$LANEWAY_ATTEMPT" = 2 ]'], lane: 'mine', maxRetries: 1, retryDelayMs: 50 },
      { argv: ['true'], lane: 'mine', afterMs: 3_600_000 },
      { argv: ['true'], lane: 'other' },
    );
    const { lines, ended } = worker(box, { drain: true, lanes: ['mine'] });
    await ended;
    assert.deepEqual(
      lines.map(({ jobId, attempt, state }) => [jobId, attempt, state]),
      [
        [1, 1, 'failed'],
        [1, 2, 'succeeded'],
      ],
    );
    const { jobs } = await queue.request(P.List, { states: ['queued'] });
    assert.deepEqual(
      jobs.map(({ id }) => id),
      [3, 2],
    );
  });

  it('--idle-timeout ends it; it sees what others add meanwhile', async (t) => {
    const box = sandbox(t);
    const queue = await open(box);
    const { lines, ended } = worker(box, { idleTimeoutMs: 1500 });
    await waitFor(async () => (await queue.request(P.StatusRequest, null)).workers.length === 1);
    await add(queue, { argv: ['true'] });
    await ended;
    assert.equal(lines.length, 1);
  });

  it('drains at the first signal, stops the jobs at the second', async (t) => {
    const box = sandbox(t);
    const queue = await open(box);
    const [job] = await add(queue, { argv: ['sleep', '600'] }, { argv: ['true'] });
    const running = worker(box, {});
    await waitFor(async () => (await queue.request(P.Show, { job: job?.id ?? 0 })).attempts[0]?.pid);
    running.drain();
    assert.equal((await queue.request(P.Show, { job: job?.id ?? 0 })).job.state, 'running');
    running.stop();
    await running.ended;
    const { counts } = await queue.request(P.StatusRequest, null);
    assert.deepEqual([counts.queued, counts.running, counts.done], [2, 0, 0]);
  });
});

describe('--direct', () => {
  it('queues without running, and with `execute` runs in-process', async (t) => {
    const box = sandbox(t);
    const still = await open(box);
    const [job] = await add(still, { argv: ['echo', 'in-process'] });
    const ids = [job?.id ?? 0];
    assert.equal((await still.request(P.Wait, { selection: { ids }, timeoutMs: 20 })).timedOut, true);
    assert.equal(still.welcome.server.running, false);
    const moving = await open(box, true);
    assert.equal((await moving.request(P.Wait, { selection: { ids } })).jobs[0]?.state, 'done');
    assert.equal((await moving.request(P.Output, { job: ids[0] ?? 0 })).text, 'in-process\n');
    await assert.rejects(
      still.request(P.ServerStop, { force: false }),
      (error: LanewayError) => error.code === 'CONFLICT',
    );
    assert.equal(box.serverPid(), null, 'no server was started');
  });

  it('stops its jobs when it is closed; they wait for the next worker', async (t) => {
    const box = sandbox(t);
    const still = await open(box);
    const moving = await open(box, true);
    const [job] = await add(moving, { argv: ['sleep', '600'] });
    await waitFor(async () => (await moving.request(P.Show, { job: job?.id ?? 0 })).attempts[0]?.pid);
    await moving.close();
    const { jobs } = await still.request(P.List, { ids: [job?.id ?? 0] });
    assert.deepEqual([jobs[0]?.state, jobs[0]?.failures, jobs[0]?.crashes], ['queued', 0, 0]);
  });
});

describe('inside a job', () => {
  it('stages are stored once, sleeps are over when they are over, and a stale attempt may do neither', async (t) => {
    const box = sandbox(t);
    const queue = await open(box, true);
    const [added] = await add(queue, { argv: ['sleep', '600'] });
    const id = added?.id ?? 0;
    const attempt = await waitFor(async () => {
      const found = (await queue.request(P.Show, { job: id })).attempts[0];
      return found?.pid ? found : null;
    });
    const { fence, workerId, number } = attempt;
    const job: InJob = { workspace: box.workspace, jobId: id, attempt: number, fence, workerId };
    const parts = { env: box.env, clock };
    assert.equal(await readCheckpoint(job, 'build', parts), null);
    await writeCheckpoint(job, 'build', Buffer.from([0xff, 0]), parts);
    assert.deepEqual(Buffer.from((await readCheckpoint(job, 'build', parts)) ?? []), Buffer.from([0xff, 0]));
    const tooMuch = writeCheckpoint(job, 'big', Buffer.alloc(1_048_577), parts);
    await assert.rejects(tooMuch, (error: LanewayError) => error.code === 'INVALID_INPUT');
    const slept = await recordSleep(job, 'nap', 3_600_000, parts);
    assert.equal(slept.elapsed, false);
    assert.ok(slept.until > Date.now());
    const stale = { ...job, fence: fence - 1 };
    for (const act of [
      () => readCheckpoint(stale, 'build', parts),
      () => writeCheckpoint(stale, 'other', Buffer.alloc(1), parts),
      () => recordSleep(stale, 'other', 1000, parts),
    ]) {
      await assert.rejects(act, (error: LanewayError) => error.code === 'CONFLICT');
    }
    assert.deepEqual(
      (await queue.request(P.Show, { job: id })).checkpoints.map(({ name, bytes }) => [name, bytes]),
      [
        ['build', 2],
        ['nap', 0],
      ],
    );
  });
});
