/** The reads beside lists: one job, its needs and stages, references, counts, settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as queries from '../../server/store/queries/index.ts';
import { DEFAULT_RETENTION_MS } from '../../shared/limits.ts';
import { add, addOne, claim, finish, openTemp, raw, register } from './support.ts';

test('a job is told from whichever side it is on', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const id = await addOne(store, {
    key: 'k',
    env: { HOME: '/other', EXTRA: '1' },
    tags: { a: 'b' },
    maxRetries: 1,
    priority: 4,
  });
  const [owner] = await claim(store);
  assert.ok(owner);
  const running = store.read((r) => queries.job(r, id));
  assert.equal(running?.phase, 'running');
  assert.equal(running.workerId, 'w1');
  assert.equal(running.startedAt, '2026-01-02T03:04:05.000Z');
  assert.equal(running.nextRunAt, null);
  assert.equal(running.exitCode, null);
  assert.deepEqual(running.envNames, ['EXTRA', 'HOME', 'PATH']);
  assert.deepEqual(
    store.read((r) => queries.env(r, id)),
    { PATH: '/usr/bin', HOME: '/other', EXTRA: '1' },
  );
  await finish(store, owner, { exitCode: null, signal: 'SIGKILL' });
  const retrying = store.read((r) => queries.job(r, id));
  assert.deepEqual(
    [retrying?.phase, retrying?.signal, retrying?.failureReason, retrying?.failures, retrying?.finishedAt],
    ['retrying', 'SIGKILL', 'process_exit', 1, null],
  );
  clock.advance(60_000);
  const [again] = await claim(store);
  assert.ok(again);
  await finish(store, again, { stdoutBytes: 3 });
  const done = store.read((r) => queries.job(r, id));
  assert.deepEqual(
    [
      done?.state,
      done?.attempts,
      done?.exitCode,
      done?.failureReason,
      done?.finishedAt,
      done?.priority,
      done?.waitReason,
    ],
    ['done', 2, 0, null, '2026-01-02T03:05:05.000Z', 4, null],
  );
  assert.deepEqual(
    store.read((r) => queries.attempts(r, id)).map((each) => [each.number, each.state]),
    [
      [1, 'failed'],
      [2, 'succeeded'],
    ],
  );
  assert.equal(store.read((r) => queries.attempt(r, id, null))?.number, 2);
  assert.equal(store.read((r) => queries.attempt(r, id, 1))?.failureReason, 'process_exit');
  assert.equal(
    store.read((r) => queries.attempt(r, id, 3)),
    null,
  );
  assert.equal(
    store.read((r) => queries.job(r, 99)),
    null,
  );
  assert.throws(() => store.read((r) => queries.env(r, 99)), { code: 'NOT_FOUND' });
  assert.deepEqual(
    store.read((r) => queries.jobs(r, [99, id, id])).map((job) => job.id),
    [id, id],
  );
});

test('names of an environment follow its content, not its row', async (t) => {
  const { store } = await openTemp(t);
  const id = await addOne(store);
  assert.deepEqual(store.read((r) => queries.job(r, id))?.envNames, ['HOME', 'PATH']);
  raw(store).exec(`UPDATE environments SET digest = 'other', content = '{"B":"1","A":"2"}'`);
  assert.deepEqual(store.read((r) => queries.job(r, id))?.envNames, ['A', 'B']);
});

test('needs and those that need a job are jobs themselves', async (t) => {
  const { store } = await openTemp(t);
  await add(store, {}, {}, { needs: [2, 1] }, { needs: [1] });
  const ids = (read: typeof queries.needs, id: number) => store.read((r) => read(r, id)).map((job) => job.id);
  assert.deepEqual(ids(queries.needs, 3), [1, 2]);
  assert.deepEqual(ids(queries.neededBy, 1), [3, 4]);
  assert.deepEqual(ids(queries.needs, 1), []);
  assert.equal(store.read((r) => queries.job(r, 3))?.waitReason, 'needs 1 and 2');
});

test('a reference is an id, the last job, or the newest of a label', async (t) => {
  const { store } = await openTemp(t);
  const resolve = (ref: number | string) => store.read((r) => queries.resolve(r, ref));
  assert.throws(() => resolve('last'), { code: 'NOT_FOUND', message: /no job yet/ });
  await add(store, { label: 'x' }, { label: 'x' }, {});
  assert.deepEqual([resolve('last'), resolve('label:x'), resolve(1), resolve('2')], [3, 2, 1, 2]);
  assert.throws(() => resolve(4), { code: 'NOT_FOUND', message: 'job 4 does not exist' });
  assert.throws(() => resolve('label:y'), { code: 'NOT_FOUND', message: /"y"/ });
  for (const ref of [0, -1, 1.5, 'first', '']) assert.throws(() => resolve(ref), { code: 'INVALID_INPUT' });
  raw(store).exec('DELETE FROM job_runtime WHERE job_id = 3; DELETE FROM jobs WHERE id = 3');
  assert.throws(() => resolve(3), { code: 'NOT_FOUND', message: /was pruned/ });
});

test('counts are corrected for delayed jobs whose time came unseen', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await add(store, { lane: 'a', maxRetries: 1 }, { lane: 'a' }, { lane: 'b' });
  const [first, , third] = await claim(store, { limit: 3 }).then(async (owners) => [owners[0], null, owners[1]]);
  assert.ok(first && third);
  await finish(store, first, { exitCode: 1 });
  await finish(store, third, { exitCode: 1 });
  await add(store, { lane: 'b', afterMs: 5000 }, { lane: 'b', afterMs: 500_000 }, { lane: 'b', needs: [2] });
  const status = () => {
    const { counts, scheduled, retrying } = store.read((r) => queries.counts(r));
    const lanes = store.read((r) => queries.lanes(r)).map((lane) => `${lane.name} ${lane.queued} ${lane.scheduled}`);
    return { queued: counts.queued, scheduled, retrying, lanes };
  };
  assert.deepEqual(store.read((r) => queries.counts(r)).counts, {
    blocked: 1,
    queued: 4,
    running: 0,
    done: 0,
    failed: 0,
    dead: 1,
    canceled: 0,
  });
  assert.deepEqual(status(), { queued: 4, scheduled: 3, retrying: 1, lanes: ['a 2 1', 'b 2 2'] });
  clock.advance(2000);
  assert.deepEqual(status(), { queued: 4, scheduled: 2, retrying: 0, lanes: ['a 2 0', 'b 2 2'] });
  clock.advance(3000);
  assert.deepEqual(status(), { queued: 4, scheduled: 1, retrying: 0, lanes: ['a 2 0', 'b 2 1'] });
  assert.equal(store.read((r) => queries.lane(r, 'b'))?.scheduled, 1);
  assert.equal(
    store.read((r) => queries.lane(r, 'c')),
    null,
  );
  await claim(store, { limit: 1 });
  assert.deepEqual([status().scheduled, status().retrying], [1, 0]);
});

test('checkpoints are the stages that ended, and the sleeps', async (t) => {
  const { store } = await openTemp(t);
  const id = await addOne(store);
  raw(store).exec(`INSERT INTO checkpoints (job_id, name, kind, attempt, at, stdout, until) VALUES
    (1, 'build', 'stage', 1, 1000, x'616263ff', NULL), (1, 'nap', 'sleep', 1, 0, NULL, 5)`);
  assert.deepEqual(
    store.read((r) => queries.checkpoints(r, id)),
    [
      {
        name: 'nap',
        attempt: 1,
        at: '1970-01-01T00:00:00.000Z',
        bytes: 0,
        kind: 'sleep',
        until: '1970-01-01T00:00:00.005Z',
      },
      { name: 'build', attempt: 1, at: '1970-01-01T00:00:01.000Z', bytes: 4, kind: 'stage', until: null },
    ],
  );
  assert.deepEqual([...(store.read((r) => queries.checkpointOutput(r, id, 'build')) ?? [])], [97, 98, 99, 255]);
  assert.equal(
    store.read((r) => queries.checkpointOutput(r, id, 'nap')),
    null,
  );
});

test('settings have defaults, and keep what was set', async (t) => {
  const { store } = await openTemp(t);
  assert.equal(store.read((r) => queries.settings(r)).retentionMs, DEFAULT_RETENTION_MS);
  raw(store).exec(`INSERT INTO meta VALUES ('setting.retentionMs', '1000'), ('setting.concurrency', 'null')`);
  const { retentionMs, concurrency } = store.read((r) => queries.settings(r));
  assert.deepEqual([retentionMs, concurrency], [1000, null]);
});
