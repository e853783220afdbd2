/**
 * Lists against a naive reading of the same queue: every filter, order and page size gives what
 * going through all jobs would, each job once.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from 'better-sqlite3';
import type { ListArgs, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import { STATE_FILTERS } from '../../shared/job.ts';
import type { Job, StateFilter } from '../../shared/job.ts';
import { add, claim, finish, openTemp, register } from './support.ts';
import type { Scope } from './support.ts';

/** What each filter means, told by a job's own fields. */
const MEANS: Record<StateFilter, (job: Job) => boolean> = {
  blocked: (job) => job.state === 'blocked',
  queued: (job) => job.state === 'queued',
  running: (job) => job.state === 'running',
  done: (job) => job.state === 'done',
  dead: (job) => job.state === 'dead',
  canceled: (job) => job.state === 'canceled',
  scheduled: (job) => job.phase === 'scheduled' || job.phase === 'retrying',
  retrying: (job) => job.phase === 'retrying',
  ready: (job) => job.phase === 'ready',
  active: (job) => job.state === 'running',
  succeeded: (job) => job.state === 'done',
  cancelled: (job) => job.state === 'canceled',
  failed: (job) => job.state === 'dead' || job.phase === 'retrying',
};

/** Some jobs in every phase, in three lanes, with tags, keys and labels; some delayed ones came due unseen. */
async function mixedQueue(scope: Scope): Promise<Store> {
  const { store, clock } = await openTemp(scope);
  await register(store);
  await add(
    store,
    ...Array.from({ length: 12 }, (_, i) => ({ lane: `l${i % 3}`, maxRetries: i % 2, tags: { i: `${i % 4}` } })),
  );
  store.read(({ db }) => db).exec('UPDATE lanes SET slots = 4');
  const claimed = await claim(store, { limit: 10 });
  for (const [i, owner] of claimed.slice(0, 8).entries()) await finish(store, owner, { exitCode: i % 3 === 0 ? 0 : 1 });
  const [dead] = store.read(({ db }) =>
    db.prepare<[], number>(`SELECT job_id FROM job_outcomes WHERE state = 'dead'`).pluck().all(),
  );
  const [live] = store.read(({ db }) =>
    db.prepare<[], number>(`SELECT job_id FROM job_runtime WHERE state = 'queued'`).pluck().all(),
  );
  assert.ok(dead && live);
  await add(
    store,
    { needs: [dead], lane: 'l1', label: 'Settled by its need' },
    { needs: [live], lane: 'l2', priority: 3, key: 'k' },
    { needs: [live], lane: 'l0', afterMs: 90_000 },
    ...[5, 1, 5, -2, 0, 9].map((priority, i) => ({ priority, lane: `l${i % 3}`, argv: ['npm', 'Test', `${i}`] })),
    ...[10, 20, 30, 40_000, 50_000, 60_000].map((afterMs, i) => ({ afterMs, lane: `l${i % 3}`, label: `later ${i}` })),
  );
  clock.advance(1000);
  return store;
}

function all(store: Store): Job[] {
  return store.read((r) => {
    const ids = r.db.prepare<[], number>('SELECT id FROM jobs ORDER BY id DESC').pluck().all();
    return queries.jobs(r, ids);
  });
}

/** Every page of a list, each at most `limit` long. */
function walk(store: Store, args: Omit<ListArgs, 'limit' | 'cursor'>, limit: number): number[] {
  const ids: number[] = [];
  let cursor: string | null = null;
  do {
    const page = store.read((r) => queries.list(r, { ...args, limit, cursor }));
    assert.ok(page.jobs.length <= limit);
    ids.push(...page.jobs.map((job) => job.id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

test('every filter gives what a naive reading gives, newest first, whatever the size of pages', async (t) => {
  const store = await mixedQueue(t);
  const jobs = all(store);
  for (const phase of ['blocked', 'scheduled', 'retrying', 'ready', 'running', 'done', 'dead', 'canceled']) {
    assert.ok(
      jobs.some((job) => job.phase === phase),
      `the queue has a job that is ${phase}`,
    );
  }
  const stateSets: (StateFilter[] | null)[] = [
    null,
    [],
    ...STATE_FILTERS.map((state): StateFilter[] => [state]),
    ['ready', 'failed'],
    ['queued', 'dead', 'retrying'],
    ['blocked', 'queued', 'running'],
    [...STATE_FILTERS],
  ];
  const narrowings: [Partial<ListArgs>, (job: Job) => boolean][] = [
    [{}, () => true],
    [{ lane: 'l1' }, (job) => job.lane === 'l1'],
    [{ lane: 'nowhere' }, () => false],
    [{ tags: { i: '2' } }, (job) => job.tags['i'] === '2'],
    [{ tags: { i: '2' }, lane: 'l2' }, (job) => job.tags['i'] === '2' && job.lane === 'l2'],
    [{ tags: { constructor: 'x' } }, () => false],
    [{ key: 'k' }, (job) => job.key === 'k'],
    [{ key: 'k', lane: 'l1' }, () => false],
    [{ text: 'LATER' }, (job) => job.label?.startsWith('later') ?? false],
    [{ text: 'm test 3' }, (job) => job.argv.join(' ') === 'npm Test 3'],
    [{ text: '12' }, (job) => job.id === 12],
    [{ ids: [1, 5, 5, 14, 999] }, (job) => [1, 5, 14].includes(job.id)],
    [{ ids: [] }, () => false],
  ];
  for (const states of stateSets) {
    for (const [narrow, keeps] of narrowings) {
      const wanted = (job: Job): boolean => !states?.length || states.some((state) => MEANS[state](job));
      const expected = jobs.filter((job) => wanted(job) && keeps(job)).map((job) => job.id);
      for (const limit of [2, 7, 1000]) {
        assert.deepEqual(
          walk(store, { states, ...narrow }, limit),
          expected,
          JSON.stringify({ states, narrow, limit }),
        );
      }
    }
  }
});

test('the order of claims is the one in which they are claimed', async (t) => {
  const store = await mixedQueue(t);
  const jobs = all(store);
  const rank = (job: Job): number => (job.state === 'blocked' ? 2 : job.phase === 'ready' && !job.label ? 0 : 1);
  const time = (job: Job): number => Date.parse(job.nextRunAt ?? '');
  const waiting = jobs
    .filter((job) => job.state === 'queued' || job.state === 'blocked')
    .sort(
      (a, b) =>
        rank(a) - rank(b) ||
        (rank(a) === 0 ? b.priority - a.priority || time(a) - time(b) : rank(a) === 1 ? time(a) - time(b) : 0) ||
        a.id - b.id,
    );
  const ids = (some: Job[]): number[] => some.map((job) => job.id);
  for (const limit of [1, 3, 1000]) {
    const order = 'claim';
    assert.deepEqual(walk(store, { order }, limit), ids(waiting));
    assert.deepEqual(walk(store, { order, lane: 'l0' }, limit), ids(waiting.filter((job) => job.lane === 'l0')));
    for (const state of ['ready', 'scheduled', 'retrying', 'blocked', 'queued'] as const) {
      assert.deepEqual(walk(store, { order, states: [state] }, limit), ids(waiting.filter(MEANS[state])), state);
    }
    assert.deepEqual(walk(store, { order, states: ['done', 'running'] }, limit), []);
    assert.deepEqual(walk(store, { order, text: 'npm' }, limit), ids(waiting.filter((job) => job.argv[0] === 'npm')));
  }
  const first = ids(waiting.filter((job) => rank(job) === 0));
  store.read(({ db }) => db).exec('UPDATE job_runtime SET next_run_at = next_run_at + 9e9 WHERE due = 0');
  store.read(({ db }) => db).exec('UPDATE lanes SET slots = 100');
  assert.deepEqual(
    (await claim(store, { limit: 100 })).map((owner) => owner.jobId),
    first,
  );
});

test('a lane too large to be read whole is filtered by the index of the state', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, { lane: 'large' }, { lane: 'small' });
  const [first] = await claim(store, { limit: 1 });
  assert.ok(first);
  await finish(store, first);
  await add(store, ...Array.from({ length: 5000 }, () => ({ lane: 'large' })), { lane: 'small' });
  assert.deepEqual(walk(store, { lane: 'large', states: ['done'] }, 10), [1]);
  assert.deepEqual(walk(store, { lane: 'small', states: ['queued'] }, 10), [5003, 2]);
  const queued = store.read((r) => queries.list(r, { lane: 'large', states: ['queued'], limit: 3 }));
  assert.deepEqual(
    queued.jobs.map((job) => job.id),
    [5002, 5001, 5000],
  );
});

test('a page looks at a bounded number of jobs and says where to go on', async (t) => {
  const { store } = await openTemp(t);
  await add(store, { label: 'needle' }, ...Array.from({ length: 9999 }, () => ({})));
  await add(store, ...Array.from({ length: 500 }, () => ({})));
  const first = store.read((r) => queries.list(r, { text: 'needle', limit: 5 }));
  assert.equal(first.jobs.length, 0);
  assert.ok(first.nextCursor, 'short, but not at its end');
  assert.deepEqual(walk(store, { text: 'needle' }, 5), [1]);
});

test('a cursor that no page gave, and a limit out of range, are refused', async (t) => {
  const { store } = await openTemp(t);
  await add(store, {}, {}, {});
  const page = (args: Partial<ListArgs>) => store.read((r) => queries.list(r, { limit: 1, ...args }));
  const { nextCursor } = page({});
  assert.ok(nextCursor);
  const garbage = [
    '',
    'garbage',
    `${nextCursor}A`,
    Buffer.from('newest 1.5').toString('base64url'),
    Buffer.from('newest').toString('base64url'),
    'é',
    '%%%',
  ];
  for (const cursor of garbage) {
    assert.throws(() => page({ cursor }), { code: 'INVALID_INPUT', message: /cursor/ }, cursor);
  }
  assert.throws(() => page({ cursor: nextCursor, order: 'claim' }), { code: 'INVALID_INPUT' }, 'of another order');
  for (const limit of [0, -1, 1.5, 1001]) assert.throws(() => page({ limit }), { code: 'INVALID_INPUT' });
});

test('pages neither skip nor repeat a job when others come and go meanwhile', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, ...Array.from({ length: 6 }, () => ({})));
  const first = store.read((r) => queries.list(r, { limit: 3 }));
  await add(store, {}, {});
  const rest = store.read((r) => queries.list(r, { limit: 3, cursor: first.nextCursor }));
  assert.deepEqual(
    [...first.jobs, ...rest.jobs].map((job) => job.id),
    [6, 5, 4, 3, 2, 1],
  );
  assert.equal(rest.nextCursor, null);
});

test('select gives ids ascending, page by page, by reference or by filter', async (t) => {
  const store = await mixedQueue(t);
  const jobs = all(store).toReversed();
  for (const states of [null, ['queued'], ['failed', 'running']] as (StateFilter[] | null)[]) {
    for (const tags of [null, { i: '1' }]) {
      const expected = jobs
        .filter((job) => !states || states.some((state) => MEANS[state](job)))
        .filter((job) => !tags || job.tags['i'] === tags.i)
        .map((job) => job.id);
      const found: number[] = [];
      for (;;) {
        const ids = store.read((r) => queries.select(r, { all: true, states, tags }, 2, found.at(-1) ?? 0));
        found.push(...ids);
        if (ids.length < 2) break;
      }
      assert.deepEqual(found, expected);
    }
  }
  assert.deepEqual(
    store.read((r) => queries.select(r, { ids: [9, 'last', 2, '2'] }, 10)),
    [2, 9, jobs.length],
  );
  assert.throws(() => store.read((r) => queries.select(r, { ids: [9999] }, 10)), { code: 'NOT_FOUND' });
  assert.throws(() => store.read((r) => queries.select(r, {}, 10)), { code: 'INVALID_INPUT' });
});

test('a page of many jobs runs as many statements as a page of few', async (t) => {
  const { store } = await openTemp(t);
  await add(store, { lane: 'x' });
  await add(store, ...Array.from({ length: 400 }, (_, i) => (i % 2 ? { needs: [1] } : { afterMs: i + 1 })));
  const runs = (limit: number): number => {
    let count = 0;
    store.read((r) => queries.list({ ...r, db: counting(r.db, () => (count += 1)) }, { limit }));
    return count;
  };
  assert.equal(runs(400), runs(20));
});

/** The same connection, telling each statement that runs. */
function counting(db: Database, ran: () => void): Database {
  const prepare = (sql: string): unknown => {
    const prepared = db.prepare(sql);
    return new Proxy(prepared, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          ran();
          return Reflect.apply(value, target, args);
        };
      },
    });
  };
  return { prepare } as unknown as Database;
}
