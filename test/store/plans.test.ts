/**
 * Query plans: the texts that really run are recorded from real calls and explained. None scans a
 * table that grows, and what must be ordered comes ordered out of an index.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from 'better-sqlite3';
import type { Store, Tx } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { STATE_FILTERS } from '../../shared/job.ts';
import { add, addOne, claim, end, finish, openTemp, register } from './support.ts';
import type { Scope } from './support.ts';

/** Scanned freely: as small as there are lanes, workers, values passed in, or rows of one look. */
const SMALL = new Set([
  'lanes',
  'l',
  'workers',
  'w',
  'counters',
  'meta',
  'sqlite_sequence',
  'pruned_files',
  'json_each',
  'wanted',
  'settlements',
  'revivals',
  'CONSTANT',
]);
/** Partial indexes that hold the running only. */
const SMALL_INDEXES = new Set(['attempts_running', 'runtime_worker', 'lanes_claim']);
/** Ends at its first row or at its limit, in the order of an index; or reads a subquery that does. */
const BOUNDED = [
  /^SELECT 1 FROM job_runtime LIMIT 1$/,
  /^SELECT id FROM jobs ORDER BY id DESC LIMIT 1$/,
  /^SELECT next_run_at, lane FROM job_runtime[^()]*LIMIT \?$/,
  /FROM \(\s*SELECT \* FROM attempts WHERE started_at < \?/,
];

const WAITING = new Set<string>(['blocked', 'queued', 'scheduled', 'retrying', 'ready', 'failed']);

interface Plan {
  sql: string;
  steps: string[];
}

/** The plans of every statement that `run` prepares on the database it is given. */
function plansOf(db: Database, run: (db: Database) => void): Plan[] {
  const texts = new Set<string>();
  const recording = new Proxy(db, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (name === 'prepare') texts.add(String(args[0]));
        return Reflect.apply(value, target, args);
      };
    },
  });
  run(recording);
  return [...texts]
    .filter((sql) => !/^\s*(PRAGMA|BEGIN|COMMIT|SAVEPOINT|RELEASE|ROLLBACK)/i.test(sql))
    .map((sql) => {
      const parameters = Array.from({ length: sql.split('?').length - 1 }, () => 1);
      const rows = db.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
      // As it was written: see hideParameters in statements.ts.
      return { sql: sql.replaceAll('+?', '?').trim(), steps: rows.map((row) => row.detail) };
    });
}

const readPlans = (store: Store, read: (r: { db: Database; now: number }) => void): Plan[] =>
  store.read((r) => plansOf(r.db, (db) => read({ ...r, db })));

const writePlans = (store: Store, write: (tx: Tx) => void): Promise<Plan[]> =>
  store.write((tx) => plansOf(tx.db, (db) => write({ ...tx, db })));

function assertNoScan(plans: readonly Plan[]): void {
  assert.ok(plans.length > 0, 'nothing was recorded');
  for (const { sql, steps } of plans) {
    if (BOUNDED.some((pattern) => pattern.test(sql))) continue;
    for (const step of steps) {
      const [, table = '', index = ''] = /^SCAN (\w+)(?:.*INDEX (\w+))?/.exec(step) ?? [];
      assert.ok(table === '' || SMALL.has(table) || SMALL_INDEXES.has(index), `${step}\n  in: ${sql}`);
    }
  }
}

function assertOrdered(plans: readonly Plan[]): void {
  for (const { sql, steps } of plans) {
    assert.ok(!steps.some((step) => step.includes('TEMP B-TREE')), `${steps.join('; ')}\n  in: ${sql}`);
  }
}

async function smallQueue(scope: Scope): Promise<Store> {
  const { store } = await openTemp(scope);
  await register(store);
  await add(
    store,
    { lane: 'a', label: 'x', key: 'k', tags: { t: '1' } },
    { lane: 'b', maxRetries: 1 },
    { lane: 'c', afterMs: 1000 },
  );
  const owners = await claim(store, { limit: 2 });
  for (const [exitCode, owner] of owners.entries()) await finish(store, owner, { exitCode });
  await add(store, { lane: 'a' }, { lane: 'a', needs: [3] });
  return store;
}

test('no page of any list scans a table or sorts it', async (t) => {
  const store = await smallQueue(t);
  const page = (args: Omit<Parameters<typeof queries.list>[1], 'limit'>) =>
    readPlans(store, (r) => {
      const { nextCursor } = queries.list(r, { ...args, limit: 1 });
      queries.list(r, { ...args, limit: 1, cursor: nextCursor });
    });
  const needsRead = /job_needs n ON n\.job_id = wanted\.value ORDER BY/;
  for (const order of ['newest', 'claim'] as const) {
    for (const lane of [null, 'a']) {
      for (const states of [null, ...STATE_FILTERS.map((state) => [state])]) {
        // Nothing that has ended or runs is in the order of claims: no statement is needed to say so.
        if (order === 'claim' && states && !WAITING.has(states[0] ?? '')) continue;
        const plans = page({ order, lane, states });
        assertNoScan(plans);
        // Jobs that came due unseen are few; the needs of one page too: both may be sorted.
        assertOrdered(plans.filter(({ sql }) => !needsRead.test(sql) && !/due = 0 AND next_run_at <= \?/.test(sql)));
      }
    }
    for (const narrow of [{ key: 'k' }, { tags: { t: '1' } }, { text: 'x' }, { ids: [1, 2] }])
      assertNoScan(page({ order, ...narrow }));
  }
});

test('the runs of a list by state and lane are covered by their index', async (t) => {
  const store = await smallQueue(t);
  // Large enough not to be read whole.
  await add(store, ...Array.from({ length: 5000 }, () => ({ lane: 'large' })));
  for (const lane of [null, 'large']) {
    const states = ['blocked', 'queued', 'running', 'done', 'dead', 'canceled'] as const;
    for (const state of states) {
      const plans = readPlans(store, (r) => queries.list(r, { states: [state], lane, limit: 1 }));
      const runs = plans.filter(({ sql }) => sql.startsWith('SELECT job_id AS id'));
      assert.ok(runs.length > 0);
      for (const { steps } of runs) {
        assert.match(
          steps.join('; '),
          /^SEARCH job_\w+ USING COVERING INDEX (runtime_phase|outcomes_state) \(.*job_id<\?\)$/,
        );
      }
    }
  }
});

test('a claim reads one row of one index, whatever waits', async (t) => {
  const store = await smallQueue(t);
  const plans = await writePlans(store, (tx) =>
    transitions.claim(tx, { workerId: 'w1', lanes: null, slots: null, limit: 4 }),
  );
  assertNoScan(plans);
  const heads = plans.filter(({ sql }) => /FROM lanes/.test(sql) && /head_priority DESC/.test(sql));
  assert.equal(heads.length, 1);
  assert.deepEqual(heads[0]?.steps, ['SCAN lanes USING INDEX lanes_claim']);
  const refreshes = plans.filter(({ sql }) => sql.startsWith('UPDATE lanes SET (head'));
  assert.ok(
    refreshes[0]?.steps.some((step) =>
      step.startsWith('SEARCH job_runtime USING COVERING INDEX runtime_claim (lane=?'),
    ),
  );
  assertOrdered([...heads, ...refreshes]);
  const promotion = plans.find(({ sql }) => sql.startsWith('UPDATE job_runtime SET due = 1'));
  assert.ok(promotion?.steps.some((step) => /runtime_delayed \(next_run_at<\?\)/.test(step)));
  assertNoScan(
    await writePlans(store, (tx) => transitions.claim(tx, { workerId: 'w1', lanes: ['a', 'b'], slots: 1, limit: 4 })),
  );
});

test('finishing, settling, heartbeats and pruning scan nothing', async (t) => {
  const store = await smallQueue(t);
  await addOne(store, { lane: 'z' });
  const [owner] = await claim(store, { lanes: ['z'] });
  assert.ok(owner);
  assertNoScan(await writePlans(store, (tx) => transitions.heartbeat(tx, 'w1')));
  assertNoScan(await writePlans(store, (tx) => transitions.finish(tx, owner, end())));
  assertNoScan(await writePlans(store, (tx) => transitions.settle(tx)));
  const need = await addOne(store, { lane: 'z' });
  await add(store, { needs: [need] }, { needs: [need], onNeedFailure: 'dead' });
  const [dying] = await claim(store, { lanes: ['z'] });
  await finish(store, dying!, { exitCode: 1 });
  const revival = { selection: { ids: [need] }, force: false, withDependents: true };
  assertNoScan(await writePlans(store, (tx) => transitions.retry(tx, revival)));
  for (const overBytes of [null, 0]) {
    const args = { before: 1e15, states: [...STATE_FILTERS], maxJobs: 1, overBytes };
    const plans = await writePlans(store, (tx) => transitions.prune(tx, args));
    assertNoScan(plans);
    assertOrdered(plans);
  }
  assertNoScan(await writePlans(store, (tx) => transitions.pruneLedger(tx, 1e15, 10)));
});

test('status, the ledger, and what workers ask scan nothing', async (t) => {
  const store = await smallQueue(t);
  const ordered = readPlans(store, (r) => {
    queries.counts(r);
    queries.events(r, { since: 0, jobId: null, limit: 10 });
    queries.events(r, { since: 0, jobId: 1, limit: 10 });
    queries.timeline(r, { jobId: 1, cursor: null, limit: 10 });
    queries.nextDue(r, null);
    queries.ownedState(r, 'w1');
    queries.select(r, { all: true, states: ['queued', 'dead'] }, 10);
    queries.resolve(r, 'last');
    queries.resolve(r, 'label:x');
    queries.prunable(r, { before: 1e15, states: ['done'], limit: 10, cursor: null });
  });
  assertNoScan(ordered);
  assertOrdered(ordered.filter(({ sql }) => !/due = 0 AND next_run_at <= \?/.test(sql)));
  assertNoScan(
    readPlans(store, (r) => {
      queries.lanes(r);
      queries.workers(r);
      queries.spans(r, { from: 1, to: 2, limit: 10 });
      queries.runningAttempts(r);
      queries.drainable(r, null);
      queries.anyLive(r);
      queries.logBytes(r);
      queries.neededBy(r, 3);
      queries.filesToDelete(r, 10);
      queries.settings(r);
    }),
  );
});
