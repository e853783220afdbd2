/** What people do to jobs and lanes: every verb from every state it may meet, the refused ones too. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Claimed, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { LaneSettings } from '../../shared/job.ts';
import type { JobResult } from '../../shared/protocol.ts';
import {
  add,
  addOne,
  assertSound,
  claim,
  contents,
  eventsOf,
  type FakeClock,
  finish,
  openTemp,
  register,
  stateOf,
  view,
} from './support.ts';

const FAIL = { exitCode: 1 };
const TERMED = { kind: 'stopped', exitCode: null, signal: 'SIGTERM', signalled: true } as const;

/** One job in each state. */
interface World {
  store: Store;
  clock: FakeClock;
  queued: number;
  delayed: number;
  retrying: number;
  blocked: number;
  running: number;
  done: number;
  dead: number;
  canceled: number;
  owner: Claimed;
}

async function world(t: TestContext): Promise<World> {
  const { store, clock } = await openTemp(t);
  await register(store);
  const run = async (id: number, how: Partial<Parameters<typeof finish>[2]> | null): Promise<Claimed> => {
    const [owner] = (await claim(store)) as [Claimed];
    assert.equal(owner.jobId, id);
    if (how !== null) await finish(store, owner, how);
    return owner;
  };
  const done = await addOne(store);
  await run(done, {});
  const dead = await addOne(store, { key: 'dead' });
  await run(dead, FAIL);
  const retrying = await addOne(store, { maxRetries: 3 });
  await run(retrying, FAIL);
  const canceled = await addOne(store);
  await store.write((tx) => transitions.cancel(tx, { ids: [canceled] }));
  const running = await addOne(store);
  const owner = await run(running, null);
  const [queued, delayed] = (await add(store, {}, { afterMs: 60_000 })) as [number, number];
  const blocked = await addOne(store, { needs: [running] });
  return { store, clock, queued, delayed, retrying, blocked, running, done, dead, canceled, owner };
}

type Name = Exclude<keyof World, 'store' | 'clock' | 'owner'>;
type Expected = [state: string, code: string | null, newest: string];

/** Runs a verb on a job of every state and compares its answer, the job's state and its newest event. */
function verbTable(
  verb: string,
  act: (store: Store, ids: number[]) => Promise<JobResult[]>,
  table: Partial<Record<Name, Expected>>,
): void {
  test(`${verb}: from every state`, async (t) => {
    const w = await world(t);
    const names = Object.keys(table) as Name[];
    const results = await act(
      w.store,
      names.map((name) => w[name]),
    );
    const met = names.map((name, n) => [
      name,
      [results[n]?.state, results[n]?.error?.code ?? null, eventsOf(w.store, w[name]).at(-1)],
    ]);
    assert.deepEqual(Object.fromEntries(met), table);
    for (const { error } of results) if (error) assert.ok(error.hint, error.message);
    assertSound(w.store);
  });
}

const cancelThem = async (store: Store, ids: number[]): Promise<JobResult[]> =>
  (await store.write((tx) => transitions.cancel(tx, { ids }))).results;
const retryThem =
  (force: boolean) =>
  async (store: Store, ids: number[]): Promise<JobResult[]> =>
    (await store.write((tx) => transitions.retry(tx, { selection: { ids }, force, withDependents: false }))).results;

verbTable('cancel', cancelThem, {
  queued: ['canceled', null, 'canceled'],
  delayed: ['canceled', null, 'canceled'],
  retrying: ['canceled', null, 'canceled'],
  blocked: ['canceled', null, 'canceled'],
  running: ['running', null, 'cancel_requested'],
  canceled: ['canceled', null, 'canceled'],
  done: ['done', 'CONFLICT', 'succeeded'],
  dead: ['dead', 'CONFLICT', 'dead'],
});

const RETRIED: Partial<Record<Name, Expected>> = {
  dead: ['queued', null, 'retried'],
  retrying: ['queued', null, 'retried'],
  queued: ['queued', 'CONFLICT', 'added'],
  delayed: ['queued', 'CONFLICT', 'added'],
  blocked: ['blocked', 'CONFLICT', 'added'],
  done: ['done', 'CONFLICT', 'succeeded'],
  canceled: ['canceled', 'CONFLICT', 'canceled'],
};
verbTable('retry', retryThem(false), { ...RETRIED, running: ['running', 'CONFLICT', 'claimed'] });
verbTable('retry --force', retryThem(true), { ...RETRIED, running: ['running', null, 'cancel_requested'] });

const bump =
  (priority: number | null, now: boolean) =>
  async (store: Store, jobs: number[]): Promise<JobResult[]> =>
    (await store.write((tx) => transitions.bump(tx, { jobs, priority, now }))).results;
const UNMOVED: Partial<Record<Name, Expected>> = {
  running: ['running', 'CONFLICT', 'claimed'],
  done: ['done', 'CONFLICT', 'succeeded'],
  dead: ['dead', 'CONFLICT', 'dead'],
  canceled: ['canceled', 'CONFLICT', 'canceled'],
};
verbTable('bump --priority', bump(5, false), {
  queued: ['queued', null, 'rescheduled'],
  delayed: ['queued', null, 'rescheduled'],
  retrying: ['queued', null, 'rescheduled'],
  blocked: ['blocked', null, 'rescheduled'],
  ...UNMOVED,
});
verbTable('bump --now', bump(null, true), {
  queued: ['queued', null, 'added'],
  delayed: ['queued', null, 'rescheduled'],
  retrying: ['queued', null, 'rescheduled'],
  blocked: ['blocked', null, 'added'],
  ...UNMOVED,
});

test('cancelling twice says nothing new, and a running job ends canceled once its group is gone', async (t) => {
  const { store, running, blocked, owner } = await world(t);
  for (let n = 0; n < 2; n++) {
    const { results } = await store.write((tx) => transitions.cancel(tx, { ids: [running] }));
    assert.deepEqual(results, [{ id: running, state: 'running', wasRunning: true, error: null }]);
  }
  // The slot stays taken until then.
  assert.deepEqual(await claim(store), []);
  const result = await finish(store, owner, TERMED);
  assert.deepEqual(
    [result.applied && result.attemptState, result.applied && result.jobState],
    ['canceled', 'canceled'],
  );
  assert.deepEqual(eventsOf(store, running), ['added', 'claimed', 'cancel_requested', 'canceled']);
  // What needed it is settled with it.
  assert.deepEqual([stateOf(store, blocked), view(store, blocked)['reason']], ['canceled', 'dependency']);
  assertSound(store);
});

test('a forced retry requeues with fresh budgets; a cancel overrides it, and not the other way round', async (t) => {
  const { store, running, owner } = await world(t);
  await retryThem(true)(store, [running]);
  await retryThem(true)(store, [running]);
  const forced = await finish(store, owner, TERMED);
  assert.deepEqual([forced.applied && forced.jobState, stateOf(store, running)], ['queued', 'queued']);
  assert.deepEqual(eventsOf(store, running), ['added', 'claimed', 'cancel_requested', 'retried']);
  await bump(9, false)(store, [running]);
  const [again] = (await claim(store)) as [Claimed];
  assert.deepEqual([again.jobId, again.attempt], [running, 2]);
  await retryThem(true)(store, [running]);
  await cancelThem(store, [running]);
  assert.equal((await retryThem(true)(store, [running]))[0]?.error?.code, 'CONFLICT');
  await finish(store, again, TERMED);
  assert.equal(stateOf(store, running), 'canceled');
  assertSound(store);
});

test('a retried job goes on counting attempts, from fresh budgets', async (t) => {
  const { store, dead } = await world(t);
  await cancelThem(store, [5, 6]);
  await retryThem(false)(store, [dead]);
  const revived = view(store, dead);
  assert.deepEqual([revived['failures'], revived['crashes'], revived['attempts'], revived['key']], [0, 0, 1, 'dead']);
  await bump(9, false)(store, [dead]);
  await store.write((tx) => transitions.setLane(tx, 'default', { slots: 2 }));
  const [owner] = (await claim(store)) as [Claimed];
  assert.deepEqual([owner.jobId, owner.attempt, owner.fence], [dead, 2, 2]);
  assertSound(store);
});

test('a key that a live job took meanwhile stands against a retry', async (t) => {
  const { store, dead } = await world(t);
  const holder = await addOne(store, { key: 'dead' });
  const before = contents(store);
  const [result] = await retryThem(false)(store, [dead]);
  assert.equal(result?.error?.code, 'KEY_CONFLICT');
  assert.match(result?.error?.message ?? '', new RegExp(`job ${holder}`));
  assert.deepEqual(contents(store), before);
});

test('verbs over a filter go on in steps, and over unknown ids one by one', async (t) => {
  const { store } = await openTemp(t);
  await add(store, ...Array.from({ length: 300 }, (_, n) => ({ lane: n % 3 === 0 ? 'a' : 'b' })));
  let steps = 0;
  for (let more = true; more; steps++) {
    ({ more } = await store.write((tx) => transitions.cancel(tx, { all: true, lane: 'b', states: ['queued'] })));
  }
  assert.ok(steps > 1);
  assert.deepEqual(store.read((r) => queries.counts(r)).counts, {
    blocked: 0,
    queued: 100,
    running: 0,
    done: 0,
    failed: 0,
    dead: 0,
    canceled: 200,
  });
  const { results } = await store.write((tx) => transitions.cancel(tx, { ids: [1, 999, 'label:none'] }));
  assert.deepEqual(
    results.map(({ id, state, error }) => [id, state, error?.code]),
    [
      [1, 'canceled', undefined],
      [999, null, 'NOT_FOUND'],
      ['label:none', null, 'NOT_FOUND'],
    ],
  );
});

test('lanes: set, back to unset, removed when empty and only then, made again by need', async (t) => {
  const { store } = await openTemp(t);
  const set = (settings: LaneSettings): Promise<void> => store.write((tx) => transitions.setLane(tx, 'x', settings));
  const lane = (): unknown => store.read((r) => queries.lane(r, 'x'));
  const events = (): number => store.read((r) => queries.cursor(r));
  await set({ slots: 4, timeoutMs: 5, pauseOnFailure: true, maxRetries: 0 });
  const asSet = lane();
  const count = events();
  await set({ slots: 4 });
  assert.deepEqual([lane(), events()], [asSet, count]);
  await set({ slots: null, timeoutMs: null, pauseOnFailure: null });
  assert.deepEqual(lane(), { ...(asSet as object), slots: 1, timeoutMs: null, pauseOnFailure: false });
  const id = await addOne(store, { lane: 'x', maxRetries: 0 });
  await assert.rejects(
    store.write((tx) => transitions.removeLane(tx, 'x')),
    { code: 'CONFLICT' },
  );
  await register(store);
  await finish(store, (await claim(store))[0] as Claimed, FAIL);
  assert.equal((await store.write((tx) => transitions.removeLane(tx, 'x'))).name, 'x');
  await assert.rejects(
    store.write((tx) => transitions.removeLane(tx, 'x')),
    { code: 'NOT_FOUND' },
  );
  assert.equal(lane(), null);
  await retryThem(false)(store, [id]);
  assert.equal((lane() as { queued: number }).queued, 1);
  assertSound(store);
});

test('a lane that pauses on failure pauses when one of its jobs dies, not when it is tried again', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  await store.write((tx) => transitions.setLane(tx, 'x', { pauseOnFailure: true, maxRetries: 1, retryDelayMs: 1 }));
  await add(store, { lane: 'x' }, { lane: 'x' });
  const paused = (): boolean | undefined => store.read((r) => queries.lane(r, 'x'))?.paused;
  await finish(store, (await claim(store))[0] as Claimed, FAIL);
  assert.equal(paused(), false);
  clock.advance(1);
  await store.write((tx) => transitions.bump(tx, { jobs: [1], priority: 1, now: false }));
  await finish(store, (await claim(store))[0] as Claimed, FAIL);
  assert.deepEqual([stateOf(store, 1), paused(), await claim(store)], ['dead', true, []]);
  assertSound(store);
});

test('settings are kept, one by one, for everyone who opens the queue', async (t) => {
  const { store, folder } = await openTemp(t);
  const before = store.read((r) => queries.settings(r));
  await store.write((tx) => transitions.setSettings(tx, { concurrency: 3 }));
  await store.write((tx) => transitions.setSettings(tx, { logLimit: 10 }));
  const { store: other } = await openTemp(t, { folder });
  assert.deepEqual(
    other.read((r) => queries.settings(r)),
    { ...before, concurrency: 3, logLimit: 10 },
  );
});
