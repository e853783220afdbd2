/** The reads beside lists: one job, counts, the ledger, spans, and what workers ask. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as queries from '../../server/store/queries/index.ts';
import type { Store } from '../../server/store/api.ts';
import type { TimelineEntry } from '../../shared/event.ts';
import { DEFAULT_RETENTION_MS, LEASE_MS } from '../../shared/limits.ts';
import { add, addOne, claim, finish, openTemp, register } from './support.ts';

/** The bare connection, for what no transition does. */
const raw = (store: Store) => store.read(({ db }) => db);

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

test('a reader with a cursor misses no event and sees none twice', async (t) => {
  const { store } = await openTemp(t);
  const events = (since: number, limit: number, jobId: number | null = null) =>
    store.read((r) => queries.events(r, { since, jobId, limit }));
  assert.deepEqual(events(0, 10), { events: [], cursor: 0 });
  await add(store, {}, {}, {}, {}, {});
  const every = events(0, 1000).events;
  assert.equal(every.length, 6, 'the lane and five jobs');
  for (const limit of [1, 2, 5, 6, 100]) {
    const seen: number[] = [];
    let cursor = 0;
    for (;;) {
      const page = events(cursor, limit);
      if (page.events.length === 0) break;
      seen.push(...page.events.map((event) => event.id));
      cursor = page.cursor;
    }
    assert.deepEqual(
      seen,
      every.map((event) => event.id),
    );
  }
  const ofJob = events(0, 10, 3);
  assert.deepEqual(
    ofJob.events.map((event) => event.jobId),
    [3],
  );
  assert.equal(ofJob.cursor, every.at(-1)?.id, 'past the events of others');
  // Ids of pruned events are not used again, so the cursor stays ahead of all that were read.
  raw(store).exec('DELETE FROM job_events');
  assert.equal(
    store.read((r) => queries.cursor(r)),
    every.at(-1)?.id,
  );
  await add(store);
  assert.equal(events(ofJob.cursor, 10).events.length, 1);
  for (const since of [-1, 0.5, Number.NaN]) assert.throws(() => events(since, 1), { code: 'INVALID_INPUT' });
  for (const limit of [0, 10_001]) assert.throws(() => events(0, limit), { code: 'INVALID_INPUT' });
});

test('a timeline holds every event and attempt once, each attempt behind its claim', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const id = await addOne(store, { maxRetries: 2 });
  for (const exitCode of [1, 1, 0]) {
    const [owner] = await claim(store);
    assert.ok(owner);
    await finish(store, owner, { exitCode });
    clock.advance(60_000);
  }
  const page = (cursor: string | null, limit: number) =>
    store.read((r) => queries.timeline(r, { jobId: id, cursor, limit }));
  const words = (entries: TimelineEntry[]) =>
    entries.map((entry) => (entry.kind === 'event' ? entry.event.type : `attempt ${entry.attempt.number}`));
  const whole = words(page(null, 100).entries);
  assert.deepEqual(whole.slice(0, 7), ['added', 'claimed', 'attempt 1', 'failed', 'retried', 'claimed', 'attempt 2']);
  assert.equal(whole.at(-1), 'succeeded');
  for (let limit = 1; limit <= whole.length; limit += 1) {
    const seen: TimelineEntry[] = [];
    let cursor: string | null = null;
    do {
      const next = page(cursor, limit);
      assert.ok(next.entries.length <= limit);
      seen.push(...next.entries);
      cursor = next.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(words(seen), whole, `pages of ${limit}`);
  }
  assert.throws(() => page('nonsense', 5), { code: 'INVALID_INPUT' });
});

test('spans are the attempts that overlap, also long ones that began before', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const start = clock.now();
  await add(store, { lane: 'long', label: 'long' }, { lane: 'ended', argv: ['echo', 'a b'] }, { lane: 'still' });
  const owners = await claim(store, { limit: 3 });
  clock.advance(1000);
  const ended = owners.find((owner) => owner.lane === 'ended');
  const long = owners.find((owner) => owner.lane === 'long');
  assert.ok(ended && long);
  await finish(store, ended);
  clock.advance(9000);
  await finish(store, long);
  await addOne(store, { lane: 'late' });
  await claim(store);
  const spans = (from: number, to: number, limit = 100) => {
    const found = store.read((r) => queries.spans(r, { from: start + from, to: start + to, limit }));
    return [found.spans.map((span) => span.title), found.truncated];
  };
  assert.deepEqual(spans(0, 1), [['long', `echo 'a b'`, 'true'], false]);
  assert.deepEqual(spans(5000, 6000), [['long', 'true'], false]);
  assert.deepEqual(spans(10_000, 20_000), [['true', 'true'], false]);
  assert.deepEqual(spans(0, 20_000, 2), [['true', 'true'], true]);
  assert.deepEqual(spans(-100, 0), [[], false]);
  const [span] = store.read((r) => queries.spans(r, { from: start, to: start + 1, limit: 1 })).spans;
  assert.deepEqual([span?.jobId, span?.attempt, span?.waitingSince], [3, 1, start]);
});

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
