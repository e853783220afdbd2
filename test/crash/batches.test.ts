/**
 * What is too much for one transaction goes in several, and SIGKILL falls between two of them: what was begun is
 * carried on by the next server, or completed by the same verb once more, and nothing is done twice.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AddRequest } from '../../shared/job.ts';
import * as P from '../../shared/protocol.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { crashQueue, type CrashQueue, PATIENCE, skip } from './support.ts';

/** More than any one transaction takes. */
const MANY = 600;
/** Nobody is to run these: what is done to them is what matters. */
const LANE = 'paused';

async function pausedQueue(queue: CrashQueue): Promise<void> {
  await queue.own.request(P.LanesSet, { name: LANE, settings: {} });
  await queue.own.request(P.Pause, { lanes: [LANE] });
}
const many = (each: AddRequest): AddRequest[] =>
  Array.from({ length: MANY }, () => ({ argv: ['true'], cwd: '/', lane: LANE, ...each }));
const counts = async (queue: CrashQueue) => (await queue.own.request(P.StatusRequest, null)).counts;

/** The verb, killed after its first transaction. */
async function dies(queue: CrashQueue, words: string[], event: string): Promise<void> {
  await queue.dies(queue.lane(['--direct', ...words], { points: `commit:after:${event}=kill` }));
}

async function succeeds(queue: CrashQueue, words: string[]): Promise<void> {
  const again = queue.lane(['--direct', ...words]);
  await queue.gone(again);
  assert.equal(again.end, 0, again.stderr);
}

/** How often each job has an event of a type. */
async function twice(queue: CrashQueue, type: string): Promise<number[]> {
  const seen = new Map<number, number>();
  for (const event of await queue.events()) {
    if (event.type === type && event.jobId !== null) seen.set(event.jobId, (seen.get(event.jobId) ?? 0) + 1);
  }
  return [...seen].filter(([, times]) => times > 1).map(([id]) => id);
}

async function whole(queue: CrashQueue): Promise<void> {
  const { checks } = await queue.own.request(P.Doctor, { deep: true });
  assert.deepEqual(
    checks.filter(({ status, id }) => status === 'fail' && id !== 'server'),
    [],
  );
}

describe('killed between two transactions of one verb', { skip, concurrency: 2 }, () => {
  test('cancelled and retried dependents are carried on by the next server', async (t) => {
    const queue = await crashQueue(t);
    await pausedQueue(queue);
    const [root = 0] = await queue.add(queue.sh('exit 1', { afterMs: 3_600_000 }));
    await queue.own.request(P.Add, { jobs: many({ needs: [root] }), caller: queue.caller });
    await dies(queue, ['cancel', String(root)], 'canceled');
    const halfway = await counts(queue);
    assert.ok(halfway.blocked > 0 && halfway.canceled > 1, JSON.stringify(halfway));
    const server = queue.server();
    await waitFor(async () => (await counts(queue)).blocked === 0, PATIENCE);
    assert.deepEqual(await twice(queue, 'canceled'), []);

    const [dying = 0] = await queue.add(queue.sh('exit 1', { maxCrashes: 0 }));
    await queue.reaches(dying, 'dead');
    await queue.ends(server);
    await queue.own.request(P.Pause, { lanes: ['default'] });
    await queue.own.request(P.Add, {
      jobs: many({ needs: [dying], onNeedFailure: 'dead' }).map((job, at) =>
        at % 2 === 0 ? job : { ...job, onNeedFailure: null },
      ),
      caller: queue.caller,
    });
    await dies(queue, ['retry', String(dying), '--with-dependents'], 'retried');
    const begun = (await counts(queue)).blocked;
    assert.ok(begun > 0 && begun < MANY, String(begun));
    const next = queue.server();
    await waitFor(async () => (await counts(queue)).blocked === MANY, PATIENCE);
    const { jobs: again } = await queue.own.request(P.List, { states: ['blocked'], limit: 1000 });
    const origins = again.map(({ id, rerunOf }) => rerunOf ?? id);
    assert.equal(new Set(origins).size, MANY, 'each is back once');
    assert.equal(again.filter(({ rerunOf }) => rerunOf !== null).length, MANY / 2);
    await queue.ends(next);
    await whole(queue);
  });

  test('cancel --all, retry --all and prune are completed by the same verb', async (t) => {
    const queue = await crashQueue(t);
    await pausedQueue(queue);
    const [root = 0] = await queue.add(queue.sh('exit 1', { afterMs: 3_600_000 }));
    await queue.own.request(P.Cancel, { selection: { ids: [root] } });
    await queue.own.request(P.Add, { jobs: many({}), caller: queue.caller });
    await dies(queue, ['cancel', '--all', '--yes'], 'canceled');
    const part = await counts(queue);
    assert.ok(part.queued > 0 && part.canceled > 1, JSON.stringify(part));
    await succeeds(queue, ['cancel', '--all', '--yes']);
    assert.deepEqual((await counts(queue)).queued, 0);
    assert.deepEqual(await twice(queue, 'canceled'), []);

    const prune = ['prune', '--older-than', '1ms', '--yes'];
    await dies(queue, prune, 'pruned');
    const left = (await counts(queue)).canceled;
    assert.ok(left > 0 && left <= MANY, String(left));
    await succeeds(queue, prune);
    assert.equal((await counts(queue)).canceled, 0);
    assert.deepEqual(await twice(queue, 'pruned'), []);

    const [need = 0] = await queue.add(queue.sh('exit 1'));
    const server = queue.server();
    await queue.reaches(need, 'dead');
    await queue.ends(server);
    await queue.own.request(P.Add, { jobs: many({ needs: [need], onNeedFailure: 'dead' }), caller: queue.caller });
    assert.equal((await counts(queue)).dead, MANY + 1);
    await queue.own.request(P.Pause, { lanes: ['default'] });
    await dies(queue, ['retry', '--all'], 'retried');
    const { dead } = await counts(queue);
    assert.ok(dead > 0 && dead <= MANY, String(dead));
    await succeeds(queue, ['retry', '--all']);
    assert.deepEqual([(await counts(queue)).dead, (await counts(queue)).blocked], [0, MANY]);
    assert.deepEqual(await twice(queue, 'retried'), []);
    await whole(queue);
  });
});
