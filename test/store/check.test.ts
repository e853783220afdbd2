/**
 * Every invariant, broken by hand: a check that cannot fail shows nothing. Each case breaks a
 * healthy queue inside a savepoint that is rolled back, and the check of that name must say so.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INVARIANTS } from '../../server/store/check/index.ts';
import * as queries from '../../server/store/queries/index.ts';
import type { Store } from '../../server/store/api.ts';
import type { Check } from '../../shared/job.ts';
import { add, claim, finish, openTemp, register } from './support.ts';
import type { Scope } from './support.ts';

/** 1 done, 2 dead, 3 and 4 running (lane wide), 5 queued, 6 delayed, 7 blocked by 5, 8 queued behind 5, 9 backing off. */
async function busyQueue(scope: Scope) {
  const { store } = await openTemp(scope);
  await register(store);
  await add(store, { lane: 'a', key: 'k1' }, { lane: 'b' }, { lane: 'wide' }, { lane: 'wide' });
  store.read(({ db }) => db.exec("UPDATE lanes SET slots = 2 WHERE name = 'wide'"));
  const [first, second] = await claim(store, { limit: 4 });
  assert.ok(first && second);
  await finish(store, first, { stdoutBytes: 10 });
  await finish(store, second, { exitCode: 1, stdoutBytes: 7 });
  await add(store, { key: 'k5' }, { afterMs: 60_000 }, { needs: [5] }, { priority: -1 }, { lane: 'c', maxRetries: 1 });
  const [retrying] = await claim(store, { lanes: ['c'] });
  assert.ok(retrying);
  await finish(store, retrying, { exitCode: 1 });
  return { store };
}

/** Runs every check on the queue as `sql` leaves it, and undoes that. */
function checkBroken(store: Store, sql: string): Map<string, Check> {
  return store.read((r) => {
    r.db.exec('PRAGMA ignore_check_constraints = ON; PRAGMA defer_foreign_keys = ON; SAVEPOINT whole');
    try {
      r.db.exec(sql);
      r.db.exec('PRAGMA ignore_check_constraints = OFF');
      return new Map(queries.check(r, true).map((check) => [check.id, check]));
    } finally {
      r.db.exec('ROLLBACK TO whole; RELEASE whole');
    }
  });
}

/** [check, the rows its message must name, what breaks it] */
const BROKEN: readonly [id: string, names: RegExp, sql: string][] = [
  [
    'job-sides',
    /both live and ended: 1$/,
    `DROP TRIGGER runtime_excludes_outcome;
     INSERT INTO job_runtime (job_id, state, lane, priority, next_run_at, due) VALUES (1, 'queued', 'a', 0, 0, 1)`,
  ],
  ['job-sides', /neither live nor ended: 1$/, 'DELETE FROM job_outcomes WHERE job_id = 1'],
  ['job-copies', /lane or key is not their own: 5$/, `UPDATE job_runtime SET key = 'other' WHERE job_id = 5`],
  ['job-copies', /lane is not their own: 1$/, `UPDATE job_outcomes SET lane = 'b' WHERE job_id = 1`],
  ['running-attempts', /: 3$/, 'UPDATE attempts SET fence = fence + 1 WHERE job_id = 3'],
  ['running-attempts', /: 3$/, `UPDATE attempts SET worker_id = 'other' WHERE job_id = 3`],
  ['running-attempts', /: 3$/, 'DELETE FROM attempts WHERE job_id = 3'],
  ['running-attempts', /: 3$/, 'UPDATE job_runtime SET fence = fence + 1 WHERE job_id = 3'],
  [
    'running-attempts',
    /more than one running attempt: 3$|same number, fence and worker: 3$/,
    `DROP INDEX attempts_running; INSERT INTO attempts (job_id, number, state, worker_id, fence, host, boot_id,
       pid_namespace, waiting_since, started_at) VALUES (3, 2, 'running', 'w1', 2, '', '', '', 0, 0)`,
  ],
  [
    'running-attempts',
    /waiting jobs.*: 9$/,
    `UPDATE attempts SET state = 'running', finished_at = NULL WHERE job_id = 9`,
  ],
  ['running-owners', /: 3, 4$/, 'DELETE FROM workers'],
  ['ended-attempts', /: 1$/, `UPDATE attempts SET state = 'running', finished_at = NULL WHERE job_id = 1`],
  ['attempt-numbers', /numbered.*: 1$/, 'UPDATE attempts SET number = 2 WHERE job_id = 1'],
  ['attempt-numbers', /numbered.*: 2$/, 'UPDATE job_outcomes SET attempts = 5 WHERE job_id = 2'],
  ['attempt-numbers', /numbered.*: 5$/, 'UPDATE job_runtime SET attempts = 1 WHERE job_id = 5'],
  ...['blocked', 'queued', 'running', 'done', 'dead', 'canceled', 'delayed', 'backing_off', 'log_bytes'].map(
    (name): [string, RegExp, string] => [
      'counters',
      new RegExp(`: ${name} \\d+, counted \\d+$`),
      `UPDATE counters SET n = n + 1 WHERE name = '${name}'`,
    ],
  ),
  ['counters', /1 of 9 counters are missing/, `DELETE FROM counters WHERE name = 'done'`],
  ...['running', 'queued', 'delayed', 'blocked'].map((column): [string, RegExp, string] => [
    'counters',
    /lanes whose.*: default$/,
    `UPDATE lanes SET ${column} = ${column} + 1 WHERE name = 'default'`,
  ]),
  [
    'counters',
    /that do not exist: ghost$/,
    `UPDATE job_runtime SET lane = 'ghost' WHERE job_id = 6;
     UPDATE lanes SET queued = queued - 1, delayed = delayed - 1 WHERE name = 'default'`,
  ],
  ['lane-heads', /: default$/, "UPDATE lanes SET head_id = 8, head_priority = -1 WHERE name = 'default'"],
  ['lane-heads', /: default$/, `UPDATE lanes SET head_id = NULL, head_priority = NULL, head_run_at = NULL`],
  ['lane-heads', /: default$/, 'UPDATE job_runtime SET priority = 9 WHERE job_id = 8'],
  ['lane-ceilings', /: wide \(2 running, 1 slots\)$/, `UPDATE lanes SET slots = 1 WHERE name = 'wide'`],
  ['environments', /: 2$/, `INSERT INTO environments (id, digest, content) VALUES (2, 'unused', '{}')`],
  ['needs', /needs left.*: 7$/, 'UPDATE job_runtime SET needs_left = 2 WHERE job_id = 7'],
  ['needs', /needs left.*: 7$/, 'UPDATE job_needs SET satisfied = 1 WHERE job_id = 7'],
  ['needs', /open need is done.*: 7$/, 'UPDATE job_needs SET need_id = 1 WHERE job_id = 7'],
  ['event-paths', /without events: 1$/, 'DELETE FROM job_events WHERE job_id = 1'],
  [
    'event-paths',
    /job 1 \(event \d+: succeeded cannot follow while queued\)$/,
    `DELETE FROM job_events WHERE job_id = 1 AND event_type = 'claimed'`,
  ],
  [
    'event-paths',
    /job 2 \(its events lead to closing, its state is dead\)$/,
    `DELETE FROM job_events WHERE job_id = 2 AND event_type = 'dead'`,
  ],
  [
    'event-paths',
    /job 5 \(its events lead to running, its state is queued\)$/,
    `INSERT INTO job_events (job_id, attempt, event_type, at, detail) VALUES (5, 1, 'claimed', 0, '{}')`,
  ],
  [
    'event-paths',
    /job 77 \(its rows are gone/,
    `INSERT INTO job_events (job_id, event_type, at, detail) VALUES (77, 'added', 0, '{"state":"queued"}')`,
  ],
  ['foreign-keys', /attempts.*→ jobs/, 'DELETE FROM job_outcomes WHERE job_id = 1; DELETE FROM jobs WHERE id = 1'],
  ['integrity', /CHECK constraint failed/, 'UPDATE job_runtime SET failures = -1 WHERE job_id = 5'],
  ['tables', /no such table: workers/, 'ALTER TABLE workers RENAME TO elsewhere'],
];

test('a healthy queue passes every check', async (t) => {
  const { store } = await busyQueue(t);
  const found = store.read((r) => queries.check(r, true));
  assert.deepEqual(
    found.filter((check) => check.status !== 'ok'),
    [],
  );
  assert.deepEqual(
    found.map((check) => check.id),
    INVARIANTS.map((invariant) => invariant.id),
  );
  const quick = store.read((r) => queries.check(r, false));
  assert.ok(quick.length > 0 && quick.length < found.length);
});

test('each invariant, broken by hand, is seen and its rows are named', async (t) => {
  const { store } = await busyQueue(t);
  for (const [id, names, sql] of BROKEN) {
    const check = checkBroken(store, sql).get(id);
    assert.equal(check?.status, 'fail', `${id} sees nothing after: ${sql}`);
    assert.match(check.message, names);
    assert.ok(check.hint, `${id} says what to do`);
  }
  const healthy = store.read((r) => queries.check(r, true));
  assert.deepEqual(
    healthy.filter((check) => check.status !== 'ok'),
    [],
    'every case was undone',
  );
  const broken = new Set(BROKEN.map(([id]) => id));
  const apart = ['connection', 'workers', 'clock', 'leftovers'];
  assert.deepEqual(
    INVARIANTS.map(({ id }) => id).filter((id) => !broken.has(id)),
    apart,
    'those have tests of their own',
  );
});

test('a connection that does not sync is told', async (t) => {
  const { store } = await openTemp(t);
  // Outside of the transaction that a read is, where it can be set.
  store.read((r) => r.db).pragma('synchronous = NORMAL');
  const found = store.read((r) => queries.check(r, false)).find((check) => check.id === 'connection');
  assert.equal(found?.status, 'fail');
  assert.match(found.message, /power cut/);
});

test('what is odd, but no fault, is a warning', async (t) => {
  const { store } = await busyQueue(t);
  const warned = (sql: string, id: string): string => {
    const found = checkBroken(store, sql).get(id);
    assert.equal(found?.status, 'warn', `${id} after: ${sql}`);
    return found.message;
  };
  assert.match(warned('UPDATE workers SET heartbeat_at = 0', 'workers'), /no life for a lease: 3, 4$/);
  assert.match(warned('INSERT INTO settlements VALUES (1)', 'leftovers'), /dependents of 1 ended job/);
  const files = `INSERT INTO pruned_files WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
    SELECT i FROM n`;
  assert.match(warned(files, 'leftovers'), /1001 log files/);
  assert.match(warned(`INSERT INTO job_events (event_type, at) VALUES ('lane_changed', 9e12)`, 'clock'), /2255-/);

  const { store: idle } = await openTemp(t);
  await add(idle);
  const found = idle.read((r) => queries.check(r, false)).find((check) => check.id === 'workers');
  assert.match(found?.message ?? '', /1 job is due and no worker is there/);
});

test('a lane that was narrowed after its jobs had started is no fault', async (t) => {
  const { store } = await busyQueue(t);
  const narrowed = `UPDATE lanes SET slots = 1 WHERE name = 'wide';
    INSERT INTO job_events (event_type, at, detail)
    VALUES ('lane_changed', 0, '{"lane":"wide","change":"set","settings":{"slots":1}}')`;
  assert.equal(checkBroken(store, narrowed).get('lane-ceilings')?.status, 'ok');
});

test('a job that a prune has begun to take apart is no fault', async (t) => {
  const { store } = await busyQueue(t);
  const begun = `INSERT INTO job_events (job_id, event_type, at) VALUES (1, 'pruned', 0);
    DELETE FROM attempts WHERE job_id = 1; DELETE FROM job_events WHERE job_id = 1 AND event_type <> 'pruned'`;
  const failed = [...checkBroken(store, begun).values()].filter((check) => check.status !== 'ok');
  assert.deepEqual(failed, []);
});
