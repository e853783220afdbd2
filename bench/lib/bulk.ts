/**
 * Queues larger than anybody waits for: written with plain SQL, past the transitions, with triggers and
 * indexes put aside meanwhile. What comes out is what the transitions would have written.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Store } from '../../server/store/api.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { Bench } from './measurement.ts';
import { CALLER, openPlace, place, type Place } from './place.ts';

type Db = Parameters<Parameters<Store['read']>[0]>[0]['db'];

/** Rows of one transaction. */
const CHUNK = 100_000;
const DAY_MS = 86_400_000;
/** Over how long the finished jobs ended, newest now. */
const HISTORY_MS = 60 * DAY_MS;
const TABLES = new Set(['jobs', 'job_outcomes', 'attempts', 'job_events', 'job_runtime']);

/** Jobs of the large queue: those that ended, and those that wait in the paused lane `waiting`. */
export function sizes({ pick }: Pick<Bench, 'pick'>): { finished: number; waiting: number } {
  return pick({ finished: 1_000_000, waiting: 100_000 }, { finished: 100_000, waiting: 10_000 });
}

/** The large queue of this run; made by the first measurement that needs it. */
export async function largePlace(bench: Bench): Promise<Place> {
  const made = path.join(bench.scratch, 'large.done');
  const where = place(bench.scratch, 'large');
  if (fs.existsSync(made)) return where;
  const { finished, waiting } = sizes(bench);
  const store = await openPlace(where);
  try {
    await store.write((tx) => {
      transitions.setLane(tx, 'waiting', {});
      transitions.pause(tx, ['waiting']);
    });
    await bulk(store, (db) => addFinished(db, finished));
    await addWaiting(store, waiting, 'waiting');
  } finally {
    await store.close();
  }
  fs.writeFileSync(made, '');
  return where;
}

/** Jobs that ended, in eight lanes, over sixty days; into a queue that nobody has open. */
export async function fillFinished(where: Pick<Place, 'paths'>, count: number): Promise<void> {
  const store = await openPlace(where);
  try {
    await store.write((tx) => {
      for (let lane = 0; lane < 8; lane += 1) transitions.setLane(tx, `lane${lane}`, {});
    });
    await bulk(store, (db) => addFinished(db, count));
  } finally {
    await store.close();
  }
}

/** Due jobs in a lane, by the product's own batches. */
export async function addWaiting(store: Store, count: number, lane: string): Promise<void> {
  const jobs = Array.from({ length: 1000 }, () => ({ argv: ['true'], cwd: '/', lane }));
  for (let left = count; left > 0; left -= 1000) {
    await store.write((tx) => transitions.add(tx, jobs.slice(0, left), CALLER));
  }
}

/** Jobs that ended over the last sixty days, oldest first, 25 of 26 of them well. */
function addFinished(db: Db, count: number): void {
  const environment = environmentOf(db);
  const from = Date.now() - HISTORY_MS;
  const first = nextId(db);
  for (let done = 0; done < count; done += CHUNK) {
    const rows = `WITH RECURSIVE n(i) AS (SELECT ${done} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(done + CHUNK, count) - 1}),
      j AS (SELECT ${first} + i AS id, 'lane' || (i % 8) AS lane, ${from} + i * ${HISTORY_MS} / ${count} AS at, i % 26 = 0 AS bad FROM n)`;
    db.exec(`BEGIN;
      ${rows} INSERT INTO jobs (id, lane, argv, cwd, max_retries, max_crashes, retry_delay_ms, retry_max_delay_ms,
          cancel_grace_ms, environment_id, umask, created_at)
        SELECT id, lane, '["npm","run","build"]', '/home/somebody/project', 0, 2, 2000, 60000, 10000, ${environment}, 18, at FROM j;
      ${rows} INSERT INTO job_outcomes (job_id, state, lane, reason, exit_code, priority, attempts, failures, crashes, fence, finished_at)
        SELECT id, iif(bad, 'dead', 'done'), lane, iif(bad, 'process_exit', NULL), bad, 0, 1, bad, 0, 1, at + 900 FROM j;
      ${rows} INSERT INTO attempts (job_id, number, state, worker_id, fence, host, boot_id, pid_namespace, pid, pid_start,
          waiting_since, started_at, finished_at, exit_code, reason, stdout_path, stderr_path, stdout_bytes, stderr_bytes)
        SELECT id, 1, iif(bad, 'failed', 'succeeded'), 'server-1', 1, 'host', 'boot', 'pid', 1000 + id % 30000, id, at, at + 100,
          at + 900, bad, iif(bad, 'process_exit', NULL), '/nowhere/' || (id / 1000) || '/' || id || '.1.log',
          '/nowhere/' || (id / 1000) || '/' || id || '.1.log', 0, 0 FROM j;
      ${rows} INSERT INTO job_events (job_id, attempt, event_type, at, worker_id, detail)
        SELECT id, iif(k = 0, NULL, 1), iif(k = 0, 'added', iif(k = 1, 'claimed', iif(bad, 'dead', 'succeeded'))), at + k * 400,
          iif(k = 0, NULL, 'server-1'), iif(k = 0, '{"state":"queued","lane":"lane0","priority":0}', '{"fence":1}')
        FROM j, (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2);
      COMMIT;`);
  }
}

/** Delayed jobs of high priority: none is due for a year. */
export async function addDelayed(store: Store, count: number, lane: string): Promise<void> {
  await store.write((tx) => transitions.setLane(tx, lane, {}));
  await bulk(store, (db) => {
    const environment = environmentOf(db);
    const first = nextId(db);
    const now = Date.now();
    const rows = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
    db.exec(`BEGIN;
      ${rows} INSERT INTO jobs (id, lane, argv, cwd, max_retries, max_crashes, retry_delay_ms, retry_max_delay_ms,
          cancel_grace_ms, environment_id, umask, created_at)
        SELECT ${first} + i, '${lane}', '["true"]', '/', 0, 2, 2000, 60000, 10000, ${environment}, 18, ${now} FROM n;
      ${rows} INSERT INTO job_runtime (job_id, state, lane, priority, next_run_at, due)
        SELECT ${first} + i, 'queued', '${lane}', 1000, ${now + 365 * DAY_MS} + i, 0 FROM n;
      ${rows} INSERT INTO job_events (job_id, event_type, at, detail)
        SELECT ${first} + i, 'added', ${now}, '{"state":"queued","lane":"${lane}","priority":1000}' FROM n;
      COMMIT;`);
  });
}

/** Runs `fill` with triggers and indexes put aside, then puts them and the kept counts in place. */
async function bulk(store: Store, fill: (db: Db) => void): Promise<void> {
  const db = databaseOf(store);
  const aside = db
    .prepare<[], { type: string; name: string; sql: string; tbl_name: string }>(
      `SELECT type, name, sql, tbl_name FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL`,
    )
    .all()
    .filter(({ tbl_name }) => TABLES.has(tbl_name));
  db.pragma('synchronous = OFF');
  for (const { type, name } of aside) db.exec(`DROP ${type} ${name}`);
  fill(db);
  for (const { sql } of aside.toSorted((a, b) => a.type.localeCompare(b.type))) db.exec(sql);
  db.exec(`
    UPDATE counters SET n = (SELECT count(*) FROM job_outcomes WHERE state = name) WHERE name IN ('done', 'dead', 'canceled');
    UPDATE counters SET n = (SELECT count(*) FROM job_runtime WHERE state = name) WHERE name IN ('queued', 'running', 'blocked');
    UPDATE counters SET n = (SELECT count(*) FROM job_runtime WHERE state = 'queued' AND due = 0) WHERE name = 'delayed';
    UPDATE lanes SET queued = (SELECT count(*) FROM job_runtime WHERE lane = lanes.name AND state = 'queued'),
      delayed = (SELECT count(*) FROM job_runtime WHERE lane = lanes.name AND state = 'queued' AND due = 0);`);
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.pragma('synchronous = FULL');
}

/** The connection itself: here nothing else uses it meanwhile. */
function databaseOf(store: Store): Db {
  return store.read(({ db }) => db);
}

function environmentOf(db: Db): number {
  db.exec(`INSERT OR IGNORE INTO environments (digest, content) VALUES ('bench', '{"PATH":"/usr/bin:/bin"}')`);
  return db.prepare<[], number>(`SELECT id FROM environments WHERE digest = 'bench'`).pluck().get() ?? 0;
}

function nextId(db: Db): number {
  return (db.prepare<[], number>(`SELECT seq FROM sqlite_sequence WHERE name = 'jobs'`).pluck().get() ?? 0) + 1;
}
