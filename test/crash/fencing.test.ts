/**
 * A `lane work` that stands still (SIGSTOP) while a server takes its job over: when it wakes it can
 * change nothing, its late exit is discarded, and what it started was gone before the job ran again.
 *
 * It stops itself at named instants, which lie between two transactions: stopped inside of one it
 * keeps everybody from writing, which has a test of its own.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, test } from 'node:test';
import type { PointName } from '../../server/run/points.ts';
import * as P from '../../shared/protocol.ts';
import { isAlive } from '../helpers/processes.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { verify } from './account.ts';
import { crashQueue, type CrashQueue, PATIENCE, skip, type Victim } from './support.ts';

/** A lease of six seconds: a much shorter one a busy machine might miss. */
const HEARTBEAT_MS = 1000;

async function standsStill(victim: Victim): Promise<void> {
  await waitFor(() => victim.end !== null || /\) T /.test(fs.readFileSync(`/proc/${victim.pid}/stat`, 'utf8')), {
    ...PATIENCE,
    what: 'a worker to stand still',
  });
  assert.equal(victim.end, null, victim.stderr);
}

/** Everything the database says of a job. */
async function story(queue: CrashQueue, id: number): Promise<unknown> {
  return [await queue.own.request(P.Show, { job: id }), await queue.events(id)];
}

/** Adds jobs until one is run by this worker: a server that was just told to end may still take the first. */
async function runsNext(queue: CrashQueue, worker: Victim): Promise<number> {
  for (;;) {
    const [next = 0] = await queue.add(queue.sh('true'));
    await queue.reaches(next, 'done');
    const [attempt] = await queue.attempts(next);
    if (attempt?.workerId.startsWith('server')) continue;
    await waitFor(() => worker.stdout.includes(`"jobId":${next},`), { ...PATIENCE, what: 'the worker to say so' });
    return next;
  }
}

describe('a worker that stood still', { skip, concurrency: 2 }, () => {
  const stays = 'exec sleep 600';
  const instants: { point: PointName; first: string; when: string; startsLate?: boolean; once?: boolean }[] = [
    { point: 'claim:after', first: stays, when: 'between its claim and the start' },
    { point: 'spawn:before', first: stays, when: 'just before the start', startsLate: true },
    { point: 'started:after', first: stays, when: 'with the job running' },
    { point: 'exit:before-finish', first: 'exit 0', when: 'with the end of the job in its hands' },
    // The schema itself refuses that a job with a running attempt ends, but not that it is queued again.
    { point: 'exit:before-finish', first: 'exit 1', when: 'with a failure to be tried again in its hands', once: true },
  ];
  for (const { point, first, when, startsLate = false, once = false } of instants) {
    test(`${when} changes nothing when it wakes`, async (t) => {
      const queue = await crashQueue(t);
      // An attempt that did not count is none of those that --once allows.
      const worker = queue.lane(['--json', 'work', '--concurrency', '1', ...(once ? ['--once'] : [])], {
        points: `${point}=pause`,
        heartbeatMs: HEARTBEAT_MS,
      });
      const [id = 0] = await queue.add(
        queue.sh(
          `echo $$ >"$BOX/pid.$LANEWAY_ATTEMPT"
          [ "$LANEWAY_ATTEMPT" != 1 ] || ${first}
          until [ -e "$BOX/go" ]; do sleep 0.02; done`,
          { maxRetries: 5 },
        ),
      );
      await standsStill(worker);
      const server = queue.server({ heartbeatMs: HEARTBEAT_MS });
      await queue.runs(id, 2);
      // Nothing of the first copy was left when the second began, or it would have said so; and nothing is now.
      if (point === 'started:after') assert.equal(isAlive(Number(queue.lines('pid.1')[0])), false);
      // Where the first copy may start late, the second has ended by then.
      if (startsLate) {
        fs.writeFileSync(queue.file('go'), '');
        await queue.reaches(id, 'done');
      }
      await waitFor(async () => (await queue.attempts(id))[1]?.pid, PATIENCE);
      const before = await story(queue, id);
      // The server claims no more, so what comes next is for the worker, once it has dealt with what it held.
      process.kill(server.pid, 'SIGTERM');
      process.kill(worker.pid, 'SIGCONT');
      if (startsLate) await queue.gone(server);
      else {
        const { workers } = await queue.own.request(P.StatusRequest, null);
        assert.equal(workers.find(({ kind }) => kind === 'server')?.running, 1);
      }
      const next = await runsNext(queue, worker);
      assert.ok(!worker.stdout.includes(`"jobId":${id},`), 'its late end was told as if it counted');
      assert.deepEqual(await story(queue, id), before);
      if (startsLate) {
        await waitFor(() => queue.lines('pid.1').every((late) => !isAlive(Number(late))), PATIENCE);
      } else if (point === 'claim:after') assert.deepEqual(queue.lines('pid.1'), [], 'it started what was not its own');
      fs.writeFileSync(queue.file('go'), '');
      await queue.reaches(id, 'done');
      const attempts = await queue.attempts(id);
      assert.deepEqual(
        attempts.map(({ state, failureReason }) => [state, failureReason]),
        [
          ['abandoned', 'worker_crash'],
          ['succeeded', null],
        ],
      );
      assert.ok((attempts[0]?.fence ?? 0) < (attempts[1]?.fence ?? 0));
      assert.ok(next > id);
      await queue.ends(server);
      if (once) await queue.gone(worker);
      else await queue.ends(worker);
      await verify(queue);
    });
  }

  test('with all others, as on a machine that slept, is not taken for hung', async (t) => {
    const queue = await crashQueue(t);
    const options = { heartbeatMs: HEARTBEAT_MS };
    const work = (lane: string) => queue.lane(['work', '--lane', lane, '--concurrency', '1'], options);
    const workers = [work('a'), work('b')];
    const body = 'echo $$ >>"$BOX/pids"; until [ -e "$BOX/go" ]; do sleep 0.02; done';
    const ids = await queue.add(queue.sh(body, { lane: 'a' }), queue.sh(body, { lane: 'b' }));
    for (const id of ids) await queue.runs(id, 1);
    const server = queue.server(options);
    ids.push(...(await queue.add(queue.sh(body, { lane: 'c' }))));
    for (const id of ids) await queue.runs(id, 1);
    await waitFor(() => queue.lines('pids').length === 3, PATIENCE);
    const scene = [...queue.lines('pids').map((pid) => -Number(pid)), ...[...workers, server].map(({ pid }) => pid)];
    for (const pid of scene) process.kill(pid, 'SIGSTOP');
    for (const victim of [...workers, server]) await standsStill(victim);
    const over = performance.now() + 7.5 * HEARTBEAT_MS;
    await waitFor(() => performance.now() > over, PATIENCE);
    // The judge wakes first.
    for (const pid of scene.toReversed()) process.kill(pid, 'SIGCONT');
    const pulse = async () =>
      (await queue.own.request(P.StatusRequest, null)).workers.map(({ heartbeatAt }) => Date.parse(heartbeatAt));
    const woken = Date.now();
    // Longer than a lease: whoever was to be reaped would have been.
    const later = performance.now() + 7 * HEARTBEAT_MS;
    await waitFor(async () => performance.now() > later && (await pulse()).every((at) => at > woken), PATIENCE);
    fs.writeFileSync(queue.file('go'), '');
    for (const id of ids) {
      await queue.reaches(id, 'done');
      assert.deepEqual(
        (await queue.attempts(id)).map(({ state }) => state),
        ['succeeded'],
      );
    }
    for (const victim of [server, ...workers]) await queue.ends(victim);
    await verify(queue);
  });

  test('inside a transaction keeps everybody from writing, and from nothing else', async (t) => {
    const queue = await crashQueue(t);
    const worker = queue.lane(['work'], { points: 'commit:before:claimed=pause' });
    const [id = 0] = await queue.add(queue.sh('true'));
    await standsStill(worker);
    let isAnswered = false;
    const adding = queue.add(queue.sh('true')).finally(() => (isAnswered = true));
    // Reads go on meanwhile.
    for (let look = 0; look < 20; look += 1) assert.equal((await queue.job(id)).state, 'queued');
    assert.equal(isAnswered, false);
    process.kill(worker.pid, 'SIGCONT');
    for (const each of [id, ...(await adding)]) await queue.reaches(each, 'done');
    await queue.ends(worker);
    await verify(queue);
  });
});
