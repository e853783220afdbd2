/** What happened: the ledger by its cursor, a job's timeline, and spans of time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as queries from '../../server/store/queries/index.ts';
import type { TimelineEntry } from '../../shared/event.ts';
import { add, addOne, claim, finish, openTemp, raw, register } from './support.ts';

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
