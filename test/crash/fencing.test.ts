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
import { crashQueue, type CrashQueue, PATIENCE, skip, STAYS, type Victim } from './support.ts';

/** A lease of three seconds: a shorter one a busy machine might miss. */
const HEARTBEAT_MS = 500;

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

describe('a worker that stood still', { skip, concurrency: 2 }, () => {
  const instants: { point: PointName; body: string; when: string; startsLate?: boolean }[] = [
    { point: 'claim:after', body: STAYS, when: 'between its claim and the start' },
    { point: 'spawn:before', body: STAYS, when: 'just before the start', startsLate: true },
    { point: 'started:after', body: STAYS, when: 'with the job running' },
    { point: 'exit:before-finish', body: 'sleep 0.05', when: 'with the end of the job in its hands' },
  ];
  for (const { point, body, when, startsLate = false } of instants) {
    test(`${when} changes nothing when it wakes`, async (t) => {
      const queue = await crashQueue(t);
      const worker = queue.lane(['--json', 'work', '--concurrency', '1'], {
        points: `${point}=pause`,
        heartbeatMs: HEARTBEAT_MS,
      });
      const [id = 0] = await queue.add(queue.sh(`echo $$ >"$BOX/pid.$LANEWAY_ATTEMPT"; ${body}`));
      await standsStill(worker);
      const server = queue.server({ heartbeatMs: HEARTBEAT_MS });
      await queue.reaches(id, 'done');
      const before = await story(queue, id);
      const [first, second] = await queue.attempts(id);
      assert.deepEqual([first?.state, first?.failureReason, second?.state], ['abandoned', 'worker_crash', 'succeeded']);
      assert.ok((first?.fence ?? 0) < (second?.fence ?? 0));
      // Nothing of the first copy was left when the second began, or it would have said so; and nothing is now.
      const [pid] = queue.lines('pid.1');
      if (point === 'started:after') assert.equal(isAlive(Number(pid)), false);
      process.kill(worker.pid, 'SIGCONT');
      // Awake, it is a worker like any other: with the server gone it runs what comes next.
      await queue.ends(server);
      const [next = 0] = await queue.add(queue.sh('true'));
      await queue.reaches(next, 'done');
      await waitFor(() => worker.stdout.includes(`"jobId":${next},`), PATIENCE);
      assert.ok(!worker.stdout.includes(`"jobId":${id},`), 'its late end was told as if it counted');
      assert.deepEqual(await story(queue, id), before);
      if (startsLate) {
        await waitFor(() => queue.lines('pid.1').every((late) => !isAlive(Number(late))), PATIENCE);
      } else if (point === 'claim:after') assert.deepEqual(queue.lines('pid.1'), [], 'it started what was not its own');
      await queue.ends(worker);
      await verify(queue);
    });
  }

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
