/**
 * What the schema itself refuses, whoever writes: the last line of defence behind the transitions, and the plainest
 * statement of the model.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store } from '../../server/store/api.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { add, addOne, assertSound, claim, finish, openTemp, register, type Scope } from './support.ts';

/** Job 1 is done, job 2 runs, job 3 waits. */
async function queue(t: Scope): Promise<Store> {
  const { store } = await openTemp(t);
  await register(store);
  await add(store, {}, {}, {});
  const [first] = await claim(store);
  assert.ok(first);
  await finish(store, first);
  await claim(store);
  return store;
}

const REFUSED: [what: string, sql: string, message: RegExp][] = [
  ['a job changes', `UPDATE jobs SET argv = '["other"]' WHERE id = 3`, /written once and never changed/],
  ['an event changes', `UPDATE job_events SET detail = '{}' WHERE id = 1`, /append-only/],
  [
    'an ended job is live too',
    `INSERT INTO job_runtime (job_id, state, lane, priority, next_run_at, due) VALUES (1, 'queued', 'default', 0, 0, 1)`,
    /live or terminal, never both/,
  ],
  ['a live job has ended too', outcome(3, 'canceled', `'canceled'`), /no runtime row and no running attempt/],
  ['failed is stored of a live job', `UPDATE job_runtime SET state = 'failed' WHERE job_id = 3`, /CHECK/],
  ['failed is stored of an ended job', `UPDATE job_outcomes SET state = 'failed', reason = 'timeout'`, /CHECK/],
  ['scheduled is stored', `UPDATE job_runtime SET state = 'scheduled' WHERE job_id = 3`, /CHECK/],
  ['a job runs without an owner', `UPDATE job_runtime SET worker_id = NULL WHERE job_id = 2`, /CHECK/],
  ['a job runs without a lease', `UPDATE job_runtime SET lease_until = NULL WHERE job_id = 2`, /CHECK/],
  ['a waiting job has an owner', `UPDATE job_runtime SET worker_id = 'w1' WHERE job_id = 3`, /CHECK/],
  ['a done job has a reason', `UPDATE job_outcomes SET reason = 'timeout' WHERE job_id = 1`, /CHECK/],
  ['a reason is made up', `UPDATE job_outcomes SET state = 'dead', reason = 'bad luck' WHERE job_id = 1`, /CHECK/],
  [
    'two attempts of a job run',
    `INSERT INTO attempts (job_id, number, state, worker_id, fence, host, boot_id, pid_namespace, waiting_since, started_at)
     VALUES (2, 2, 'running', 'w1', 2, '', '', '', 0, 0)`,
    /UNIQUE/,
  ],
  ['an ended attempt has no end', `UPDATE attempts SET finished_at = NULL WHERE job_id = 1`, /CHECK/],
  ['a priority is beyond 32 bits', `UPDATE job_runtime SET priority = 2147483648 WHERE job_id = 3`, /CHECK/],
  ['a job needs a later one', `INSERT INTO job_needs (job_id, need_id) VALUES (2, 3)`, /CHECK/],
  ['an event is of no known type', `INSERT INTO job_events (job_id, event_type, at) VALUES (1, 'lost', 0)`, /CHECK/],
];

function outcome(jobId: number, state: string, reason: string): string {
  return `INSERT INTO job_outcomes (job_id, state, lane, reason, priority, attempts, failures, crashes, fence, finished_at)
    VALUES (${jobId}, '${state}', 'default', ${reason}, 0, 0, 0, 0, 0, 0)`;
}

test('the schema refuses what cannot be', async (t) => {
  const store = await queue(t);
  for (const [what, sql, message] of REFUSED)
    await assert.rejects(
      store.write((tx) => tx.db.exec(sql)),
      message,
      what,
    );
  assertSound(store);
});

test('the reason unknown is admitted, for rows whose reason was never recorded', async (t) => {
  const store = await queue(t);
  await store.write((tx) => {
    tx.db.exec(`DELETE FROM job_runtime WHERE job_id = 3`);
    tx.db.exec(outcome(3, 'dead', `'unknown'`));
  });
});

test('an id is never given again, not even that of a pruned job or event', async (t) => {
  const { store } = await openTemp(t);
  const id = await addOne(store);
  await store.write((tx) => transitions.cancel(tx, { ids: [id] }));
  const events = (): number =>
    store.read(({ db }) => db.prepare('SELECT max(id) FROM job_events').pluck().get() as number);
  const before = events();
  await store.write((tx) => {
    transitions.prune(tx, { before: Number.MAX_SAFE_INTEGER, states: ['canceled'], maxJobs: 10, overBytes: null });
    tx.db.exec('DELETE FROM job_events');
  });
  assert.equal(await addOne(store), id + 1);
  assert.ok(events() > before);
});
