/** add and rerun: what a new job is made of, and what is refused as a whole. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import {
  add,
  addOne,
  assertSound,
  CALLER,
  claim,
  contents,
  eventsOf,
  finish,
  job,
  openTemp,
  register,
  stateOf,
  view,
} from './support.ts';

test("a job takes what it is given, else its lane's defaults as they are now, else the product's", async (t) => {
  const { store } = await openTemp(t);
  await store.write((tx) =>
    transitions.setLane(tx, 'slow', { timeoutMs: 5000, maxRetries: 3, retryDelayMs: 10, cancelGraceMs: 7 }),
  );
  const [own, lane, plain, patient] = await add(
    store,
    { lane: 'slow', timeoutMs: 1, maxRetries: 0, maxCrashes: 9 },
    { lane: 'slow' },
    {},
    { retryDelayMs: 90_000 },
  );
  await store.write((tx) => transitions.setLane(tx, 'slow', { timeoutMs: null, maxRetries: null }));
  const read = (id: number | undefined): unknown[] => {
    const job = view(store, id as number);
    return ['timeout_ms', 'max_retries', 'max_crashes', 'retry_delay_ms', 'retry_max_delay_ms', 'cancel_grace_ms'].map(
      (column) => job[column],
    );
  };
  assert.deepEqual(read(own), [1, 0, 9, 10, 60_000, 7]);
  assert.deepEqual(read(lane), [5000, 3, 2, 10, 60_000, 7]);
  assert.deepEqual(read(plain), [null, 0, 2, 2000, 60_000, 10_000]);
  assert.deepEqual([view(store, plain as number)['lane'], view(store, plain as number)['priority']], ['default', 0]);
  assert.deepEqual(read(patient), [null, 0, 2, 90_000, 90_000, 10_000], 'the longest wait is never below the first');
});

test('jobs due at once keep their order when the clock goes back', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const first = await addOne(store);
  clock.set(clock.now() - 86_400_000);
  const second = await addOne(store);
  for (const id of [first, second]) {
    const [owner] = await claim(store);
    assert.equal(owner?.jobId, id);
    await finish(store, owner as NonNullable<typeof owner>);
  }
});

test('one environment is stored once, in whatever order it came, and goes with its last job', async (t) => {
  const { store } = await openTemp(t);
  const callers: Record<string, string>[] = [{ A: '1', B: '2' }, { B: '2', A: '1' }, { A: 'other' }];
  for (const env of callers) await store.write((tx) => transitions.add(tx, [job()], { env, umask: 0o77 }));
  const count = (): unknown =>
    store.read(({ db }) => db.prepare<[], number>('SELECT count(*) FROM environments').pluck().get());
  assert.equal(count(), 2);
  await register(store);
  const [owner] = await claim(store);
  assert.deepEqual([owner?.env, owner?.umask], [{ A: '1', B: '2' }, 0o77]);
});

test('a batch is all or none', async (t) => {
  const { store } = await openTemp(t);
  await addOne(store, { key: 'taken' });
  const before = contents(store);
  const refusals: [Parameters<typeof job>[0][], string, RegExp][] = [
    [[{}, { key: 'taken', argv: ['false'] }], 'KEY_CONFLICT', /line 2.*"taken".*job 1/],
    [[{}, { key: 'taken', lane: 'other' }], 'KEY_CONFLICT', /line 2/],
    [[{}, { needs: [99] }], 'INVALID_INPUT', /line 2.*job 99/],
    [[{}, { needs: [{ line: 2 }] }], 'INVALID_INPUT', /line 2/],
    [[{}, { needs: [{ line: 0 }] }], 'INVALID_INPUT', /line 0/],
  ];
  for (const [requests, code, message] of refusals) {
    await assert.rejects(add(store, ...requests.map(job)), { code, message });
    assert.deepEqual(contents(store), before);
  }
});

test('a key names one live job: the same work is that job, in a batch too, and an ended one frees it', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const write = (...keys: (string | null)[]): Promise<{ ids: number[]; deduplicated: number[] }> =>
    store.write((tx) =>
      transitions.add(
        tx,
        keys.map((key) => job({ key })),
        CALLER,
      ),
    );
  assert.deepEqual(await write('a', null, 'a', 'b'), { ids: [1, 2, 1, 3], deduplicated: [1] });
  const [owner] = await claim(store);
  assert.deepEqual(await write('a'), { ids: [1], deduplicated: [1] });
  await finish(store, owner as NonNullable<typeof owner>);
  assert.deepEqual(await write('a'), { ids: [4], deduplicated: [] });
  assertSound(store);
});

test('a line may need an earlier line, twice counts once, and a need that is done counts', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const done = await addOne(store);
  await finish(store, (await claim(store))[0] as never);
  const [first, second, third] = await add(
    store,
    {},
    { needs: [{ line: 1 }, { line: 1 }, done] },
    { needs: [done, done] },
  );
  assert.deepEqual(
    [first, second, third].map((id) => stateOf(store, id as number)),
    ['queued', 'blocked', 'queued'],
  );
  assert.deepEqual(
    store.read((r) => queries.needs(r, second as number)).map(({ id }) => id),
    [done, first],
  );
  assertSound(store);
});

test('a need may be the last job or a label, of the jobs there were before the batch', async (t) => {
  const { store } = await openTemp(t);
  const [build, other] = (await add(store, { label: 'build' }, {})) as [number, number];
  const [, both] = (await add(store, { label: 'build' }, { needs: ['label:build', 'last', { line: 1 }, other] })) as [
    number,
    number,
  ];
  assert.deepEqual(
    store.read((r) => queries.needs(r, both)).map(({ id }) => id),
    [build, other, both - 1],
  );
  await assert.rejects(add(store, {}, { needs: ['label:none'] }), {
    code: 'INVALID_INPUT',
    message: /^line 2: needs: no job has the label "none"/,
  });
  assertSound(store);
});

for (const [policy, state, events] of [
  ['cancel', 'canceled', ['added', 'canceled']],
  ['dead', 'dead', ['added', 'dead']],
  ['release', 'queued', ['added']],
] as const) {
  test(`a need that has ended badly already settles at once: ${policy}`, async (t) => {
    const { store } = await openTemp(t);
    const need = await addOne(store);
    await store.write((tx) => transitions.cancel(tx, { ids: [need] }));
    // Its key is free again for the next line, and what needs it is settled in turn.
    const [id, again, last] = await add(
      store,
      { needs: [need], onNeedFailure: policy, key: 'k' },
      { key: 'k' },
      { needs: [{ line: 1 }] },
    );
    assert.equal(stateOf(store, id as number), state);
    assert.deepEqual(eventsOf(store, id as number), events);
    assert.equal(again === id, policy === 'release');
    assert.equal(stateOf(store, last as number), policy === 'release' ? 'blocked' : 'canceled');
    assertSound(store);
  });
}

test('10,000 jobs are one transaction', async (t) => {
  const { store } = await openTemp(t);
  const jobs = Array.from({ length: 10_000 }, (_, n) => job(n === 9999 ? { needs: [{ line: 1 }] } : {}));
  const { ids } = await store.write((tx) => transitions.add(tx, jobs, CALLER));
  assert.deepEqual([ids[0], ids.length, ids.at(-1)], [1, 10_000, 10_000]);
  assertSound(store);
});

test('rerun: the same work as a new job, without key and needs, tied to the old one', async (t) => {
  const { store } = await openTemp(t);
  const [need] = await add(store, {});
  const id = await addOne(store, {
    argv: ['make', 'a b'],
    lane: 'x',
    label: 'L',
    tags: { a: 'b' },
    key: 'k',
    env: { E: '1' },
    needs: [need as number],
    priority: 7,
    split: true,
    timeoutMs: 5,
  });
  const { ids, results } = await store.write((tx) => transitions.rerun(tx, [id, 99, 'label:L']));
  assert.deepEqual(
    results.map(({ id, state, error }) => [id, state, error?.code ?? null]),
    [
      [id, 'blocked', null],
      [99, null, 'NOT_FOUND'],
      // The newest job of that label is by now the first rerun.
      [3, 'queued', null],
    ],
  );
  const own = new Set(['id', 'state', 'key', 'rerun_of', 'next_run_at', 'needs_left']);
  const identity = (of: number): object =>
    Object.fromEntries(Object.entries(view(store, of)).filter(([c]) => !own.has(c)));
  assert.deepEqual(identity(ids[0] as number), identity(id));
  const again = view(store, ids[0] as number);
  assert.deepEqual([again['state'], again['key'], again['rerun_of'], again['needs_left']], ['queued', null, id, 0]);
  assertSound(store);
});
