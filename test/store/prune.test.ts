/** Retention: what goes, what stays, in which order, and that a step is bounded however large a job is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { AddRequest, StateFilter } from '../../shared/job.ts';
import { addOne, claim, eventsOf, finish, openTemp, raw, register } from './support.ts';

const ALL: StateFilter[] = ['done', 'dead', 'canceled'];

/** Add a job, run it, and end it with so many bytes of log. */
async function ended(store: Store, request: AddRequest = {}, bytes = 10, exitCode = 0): Promise<number> {
  const id = await addOne(store, { lane: 'run', ...request });
  const [owner] = await claim(store, { lanes: ['run'] });
  assert.equal(owner?.jobId, id);
  const suffix = request.split ? ['out.log', 'err.log'] : ['log', 'log'];
  const [stdoutPath = '', stderrPath = ''] = suffix.map((end) => `0/${id}.1.${end}`);
  await store.write((tx) => transitions.started(tx, owner, { pid: 1, startTime: '1', stdoutPath, stderrPath }));
  await finish(store, owner, { exitCode, stdoutBytes: bytes, stderrBytes: bytes });
  return id;
}

type PruneArgs = Partial<Parameters<typeof transitions.prune>[1]>;
type Step = ReturnType<typeof transitions.prune>;

async function prune(store: Store, args: PruneArgs = {}): Promise<Step> {
  const whole = { before: Number.MAX_SAFE_INTEGER, states: ALL, maxJobs: 1000, overBytes: null, ...args };
  return store.write((tx) => transitions.prune(tx, whole));
}

/** Steps until there is no more; fails when that does not come. */
async function pruneAll(
  store: Store,
  args: PruneArgs = {},
): Promise<{ ids: number[]; files: string[]; steps: Step[] }> {
  const steps: Step[] = [];
  do {
    steps.push(await prune(store, args));
    assert.ok(steps.length < 2000, 'pruning does not end');
  } while (steps.at(-1)?.more);
  return { ids: steps.flatMap((step) => step.ids), files: steps.flatMap((step) => step.files), steps };
}

const rowsOf = (store: Store, id: number): Record<string, number> => {
  const count = (table: string, column = 'job_id') =>
    raw(store).prepare<[number], number>(`SELECT count(*) FROM ${table} WHERE ${column} = ?`).pluck().get(id) ?? 0;
  return {
    jobs: count('jobs', 'id'),
    outcomes: count('job_outcomes'),
    attempts: count('attempts'),
    needs: count('job_needs'),
    checkpoints: count('checkpoints'),
    settlements: count('settlements'),
  };
};

test('a pruned job leaves one event and the names of its files until they are gone', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const need = await ended(store);
  const id = await ended(store, { split: true, needs: [need] }, 7);
  const kept = await ended(store);
  raw(store)
    .exec(`INSERT INTO checkpoints (job_id, name, kind, attempt, at, stdout) VALUES (${id}, 'x', 'stage', 1, 0, x'00');
    INSERT INTO settlements VALUES (${id})`);
  raw(store).exec(`UPDATE job_outcomes SET finished_at = finished_at + 1 WHERE job_id = ${kept}`);
  const before = store.read((r) => r.now) + 1;
  const step = await prune(store, { before });
  assert.deepEqual(step, {
    ids: [need, id],
    files: [`0/${need}.1.log`, `0/${id}.1.out.log`, `0/${id}.1.err.log`],
    bytes: 10 + 14,
    more: false,
  });
  assert.deepEqual(eventsOf(store, id), ['pruned']);
  assert.ok(
    Object.values(rowsOf(store, id)).every((count) => count === 0),
    JSON.stringify(rowsOf(store, id)),
  );
  assert.equal(
    store.read((r) => queries.logBytes(r)),
    10,
  );
  assert.equal(store.read((r) => queries.counts(r)).counts.done, 1);
  assert.deepEqual(
    store.read((r) => queries.filesToDelete(r, 2)),
    [`0/${need}.1.log`, `0/${id}.1.err.log`],
  );
  await store.write((tx) => transitions.prunedFiles(tx, [`0/${need}.1.log`, `0/${id}.1.err.log`, 'unknown']));
  assert.deepEqual(
    store.read((r) => queries.filesToDelete(r, 10)),
    [`0/${id}.1.out.log`],
  );
  const faults = store.read((r) => queries.check(r, true)).filter((check) => check.status !== 'ok');
  assert.deepEqual(faults, []);
});

test('live jobs and what they need stay, and go when they have ended', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const need = await ended(store);
  const other = await ended(store, {}, 10, 1);
  const waiting = await addOne(store, { needs: [need], afterMs: 60_000 });
  const blocked = await addOne(store, { needs: [waiting] });
  assert.deepEqual((await pruneAll(store)).ids, [other]);
  assert.deepEqual((await pruneAll(store, { before: 0, overBytes: 0 })).ids, []);
  assert.equal(rowsOf(store, need)['jobs'], 1);
  await store.write((tx) => transitions.cancel(tx, { ids: [waiting] }));
  assert.deepEqual(
    (await pruneAll(store)).ids.sort((a, b) => a - b),
    [need, waiting, blocked],
  );
});

test('only the states asked for; what has not ended is refused', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const dead = await ended(store, {}, 10, 1);
  const done = await ended(store);
  const retryable = await addOne(store);
  await store.write((tx) => transitions.cancel(tx, { ids: [retryable] }));
  assert.deepEqual((await pruneAll(store, { states: ['succeeded', 'cancelled'] })).ids, [done, retryable]);
  assert.deepEqual((await pruneAll(store, { states: ['failed'] })).ids, [dead]);
  await assert.rejects(prune(store, { states: ['queued', 'running'] }), {
    code: 'INVALID_INPUT',
    message: /queued, running/,
  });
});

test('beyond the size limit the oldest go first, whatever their state, and those that free nothing stay', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const ids: number[] = [];
  for (const [bytes, exitCode] of [
    [100, 1],
    [0, 0],
    [100, 0],
    [100, 1],
    [100, 0],
  ] as const) {
    ids.push(await ended(store, {}, bytes, exitCode));
    clock.advance(1000);
  }
  const [first, , third] = ids;
  assert.deepEqual((await pruneAll(store, { before: 0, overBytes: 400 })).ids, []);
  assert.deepEqual((await pruneAll(store, { before: 0, overBytes: 399 })).ids, [first]);
  assert.deepEqual((await pruneAll(store, { before: 0, overBytes: 200, maxJobs: 1 })).ids, [third]);
  assert.equal(
    store.read((r) => queries.logBytes(r)),
    200,
  );
  assert.deepEqual((await pruneAll(store, { before: 0, states: ['done'], overBytes: 0 })).ids, [ids[4]]);
});

test('a job with more rows than a step may delete goes in several, and is whole to nobody meanwhile', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const id = await ended(store);
  raw(store).exec(`
    WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO attempts (job_id, number, state, worker_id, fence, host, boot_id, pid_namespace, waiting_since, started_at,
      finished_at, stdout_path, stderr_path) SELECT ${id}, i, 'failed', 'w', 1, '', '', '', 0, 0, 0, '0/' || i, '0/' || i FROM n;
    WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO job_events (job_id, attempt, event_type, at) SELECT ${id}, i, 'checkpointed', 0 FROM n;
    UPDATE job_outcomes SET attempts = 1000`);
  const size = () =>
    raw(store)
      .prepare<[], number>('SELECT (SELECT count(*) FROM attempts) + (SELECT count(*) FROM job_events)')
      .pluck()
      .get() ?? 0;
  const ids: number[] = [];
  const files: string[] = [];
  for (let more = true; more;) {
    const before = size();
    const step = await prune(store);
    assert.ok(before - size() <= 400, `${before - size()} rows in one step`);
    const faults = store.read((r) => queries.check(r, true)).filter((check) => check.status === 'fail');
    assert.deepEqual(faults, []);
    ids.push(...step.ids);
    files.push(...step.files);
    more = step.more;
  }
  assert.deepEqual(ids, [id]);
  assert.equal(new Set(files).size, 1000);
  assert.equal(files.length, 1000);
  assert.deepEqual(eventsOf(store, id), ['pruned']);
});

test('a job that is being taken apart comes back to life no more, by itself or with what it needs', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const need = await ended(store, {}, 10, 1);
  const id = await addOne(store, { needs: [need], onNeedFailure: 'dead' });
  raw(store).exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO job_events (job_id, attempt, event_type, at)
      SELECT job.value, i, 'checkpointed', 0 FROM n, json_each('[${need}, ${id}]') job`);
  const retry = async (ref: number) =>
    (
      await store.write((tx) =>
        transitions.retry(tx, { selection: { ids: [ref] }, force: false, withDependents: true }),
      )
    ).results[0]?.error;
  assert.equal((await prune(store)).more, true);
  assert.match((await retry(need))?.message ?? '', /being pruned/);
  // The one that needs it is whole, but would wait for it for ever.
  const refused = await retry(id);
  assert.equal(refused?.code, 'CONFLICT');
  assert.match(refused.message, /pruned without having been done/);
  await store.write((tx) => transitions.pruneLedger(tx, Number.MAX_SAFE_INTEGER, 10));
  assert.equal(eventsOf(store, need).at(-1), 'pruned', 'the mark stays while there is something it marks');
  assert.deepEqual(
    (await pruneAll(store)).ids.sort((a, b) => a - b),
    [need, id],
  );
});

test('many jobs that stay hold up neither a step nor the end', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  const live = await addOne(store, { afterMs: 60_000 });
  // More kept jobs than one step looks at, then one that may go.
  raw(store).exec(`
    WITH RECURSIVE n (i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 13001)
    INSERT INTO jobs (id, lane, argv, cwd, max_retries, max_crashes, retry_delay_ms, retry_max_delay_ms, cancel_grace_ms,
      environment_id, umask, created_at) SELECT i, 'default', '[]', '/', 0, 0, 1, 1, 1, 1, 0, 0 FROM n;
    INSERT INTO job_outcomes (job_id, state, lane, priority, attempts, failures, crashes, fence, finished_at)
      SELECT id, 'done', 'default', 0, 0, 0, 0, 0, id FROM jobs WHERE id > 1000;
    PRAGMA ignore_check_constraints = ON;
    INSERT INTO job_needs (job_id, need_id, satisfied) SELECT ${live}, id, 1 FROM jobs WHERE id BETWEEN 1001 AND 13000;
    PRAGMA ignore_check_constraints = OFF`);
  const { ids, steps } = await pruneAll(store);
  assert.deepEqual(ids, [13_001]);
  assert.ok(steps.length > 1, 'no step looked at all of them');
  assert.deepEqual((await pruneAll(store, { before: 0, overBytes: 0 })).ids, []);
  assert.equal(
    raw(store).prepare(`SELECT count(*) FROM meta WHERE key LIKE 'prune.%'`).pluck().get(),
    0,
    'no note is left',
  );
});

test('what could be pruned is what is pruned', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const need = await ended(store);
  for (const exitCode of [0, 1, 0, 1, 0]) await ended(store, {}, 10, exitCode);
  await addOne(store, { needs: [need], afterMs: 1000 });
  clock.advance(1000);
  await ended(store);
  const args = { before: clock.now(), states: ALL };
  let [jobs, bytes] = [0, 0];
  let cursor: string | null = null;
  do {
    const page = store.read((r) => queries.prunable(r, { ...args, limit: 2, cursor }));
    jobs += page.jobs;
    bytes += page.bytes;
    cursor = page.nextCursor;
  } while (cursor !== null);
  const { ids, steps } = await pruneAll(store, args);
  assert.deepEqual([jobs, bytes], [ids.length, steps.reduce((sum, step) => sum + step.bytes, 0)]);
  assert.deepEqual([jobs, bytes], [5, 50]);
  assert.throws(() => store.read((r) => queries.prunable(r, { ...args, limit: 2, cursor: 'x' })), {
    code: 'INVALID_INPUT',
  });
});

test('an environment goes with its last job', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  await ended(store);
  const stays = await addOne(store);
  const environments = () => raw(store).prepare('SELECT count(*) FROM environments').pluck().get();
  await pruneAll(store);
  assert.equal(environments(), 1);
  await store.write((tx) => transitions.cancel(tx, { ids: [stays] }));
  await pruneAll(store);
  assert.equal(environments(), 0);
});

test('the ledger drops what was pruned long ago, in steps, and cursors stay good', async (t) => {
  const { store, clock } = await openTemp(t);
  await register(store);
  const old = [await ended(store), await ended(store), await ended(store)];
  await pruneAll(store);
  clock.advance(1000);
  const recent = await ended(store);
  await pruneAll(store);
  const cursor = store.read((r) => queries.cursor(r));
  const drop = () => store.write((tx) => transitions.pruneLedger(tx, clock.now(), 2));
  assert.deepEqual([await drop(), await drop(), await drop()], [true, false, false]);
  assert.deepEqual(
    old.map((id) => eventsOf(store, id)),
    [[], [], []],
  );
  assert.deepEqual(eventsOf(store, recent), ['pruned']);
  assert.equal(
    store.read((r) => queries.cursor(r)),
    cursor,
  );
});

test('a claim goes in between the steps of a prune', async (t) => {
  const { store } = await openTemp(t);
  await register(store);
  for (let i = 0; i < 20; i += 1) await ended(store);
  const id = await addOne(store);
  const order: string[] = [];
  const pruning = (async () => {
    for (let more = true; more;) {
      ({ more } = await prune(store, { maxJobs: 1 }));
      order.push('step');
    }
  })();
  const [owner] = await claim(store);
  order.push('claim');
  await pruning;
  assert.equal(owner?.jobId, id);
  assert.ok(order.indexOf('claim') < 3, `the claim waited for ${order.indexOf('claim')} steps`);
  assert.equal(order.length, 22);
});
