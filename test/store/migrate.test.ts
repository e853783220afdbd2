/** Migrations: once, whole, forward only, however many open the queue at once, and never under an older worker. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { loadMigrations, SCHEMA } from '../../server/store/migrate.ts';
import { openStoreWith, type OpenParts } from '../../server/store/open.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import {
  add,
  addOne,
  assertSound,
  bundleProgram,
  claim,
  openTemp,
  register,
  runProgram,
  stateOf,
  tempFolder,
} from './support.ts';

const SECOND = 'ALTER TABLE workers ADD COLUMN mood TEXT; CREATE TABLE moods (mood TEXT);';
const second = (sql = SECOND): OpenParts => ({
  ground: () => ({ kind: 'local' }),
  schema: SCHEMA + 1,
  migrations: () => [...loadMigrations(), sql],
  workersMs: 0,
});

test('the schema of this build is the number of its migrations', () => {
  assert.equal(loadMigrations().length, SCHEMA);
});

test('20 processes open a new queue at once: one database, every job in it', async (t) => {
  const folder = tempFolder(t);
  const opener = await bundleProgram(t, 'opener.ts');
  const opened = (await Promise.all(Array.from({ length: 20 }, () => runProgram(opener, folder)))) as {
    instance: string;
    schema: number;
    id: number;
  }[];
  assert.equal(new Set(opened.map(({ instance }) => instance)).size, 1);
  assert.deepEqual(new Set(opened.map(({ schema }) => schema)), new Set([SCHEMA]));
  assert.deepEqual(
    opened.map(({ id }) => id).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, n) => n + 1),
  );
  const { store } = await openTemp(t, { folder });
  assertSound(store);
});

test('an older queue is brought forward with its jobs; whoever has it open still is refused', async (t) => {
  const { store: older, folder, clock } = await openTemp(t);
  await add(older);
  const newer = await openStoreWith({ folder, clock }, second());
  t.after(() => newer.close());
  assert.deepEqual([newer.schema, newer.instance, stateOf(newer, 1)], [SCHEMA + 1, older.instance, 'queued']);
  await assert.rejects(addOne(older), { code: 'SCHEMA_NEWER' });
  assert.equal(stateOf(newer, 2), null);
  assert.equal(stateOf(newer, await addOne(newer)), 'queued');
});

test('a migration that fails half-way leaves the queue as it was', async (t) => {
  const { store, folder, clock } = await openTemp(t);
  await assert.rejects(openStoreWith({ folder, clock }, second(`${SECOND} INSERT INTO no_such_table VALUES (1);`)));
  assert.equal(
    store.read(({ db }) => db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'moods'`).get()),
    undefined,
  );
  assert.equal(stateOf(store, await addOne(store)), 'queued');
});

test('beside a live worker of the older schema it refuses; when that leaves while it waits, it goes on', async (t) => {
  const { store, folder, clock } = await openTemp(t);
  await register(store, 'old', { pid: 4711 });
  await assert.rejects(openStoreWith({ folder, clock }, second()), { code: 'ENVIRONMENT', message: /pid 4711/ });
  const waiting = openStoreWith({ folder, clock }, { ...second(), workersMs: 60_000 });
  await store.write((tx) => transitions.removeWorker(tx, 'old'));
  const newer = await waiting;
  t.after(() => newer.close());
  assert.equal(newer.schema, SCHEMA + 1);
});

test('a worker whose process is known to be gone holds up nothing, one beside it does', async (t) => {
  const { store, folder, clock } = await openTemp(t);
  await register(store, 'killed', { pid: 4711 });
  await register(store, 'alive', { pid: 4712 });
  const isGone = async ({ pid }: { pid: number }): Promise<boolean> => pid === 4711;
  await assert.rejects(openStoreWith({ folder, clock, isGone }, second()), {
    code: 'ENVIRONMENT',
    message: /pid 4712/,
  });
  await store.write((tx) => transitions.removeWorker(tx, 'alive'));
  const newer = await openStoreWith({ folder, clock, isGone }, second());
  t.after(() => newer.close());
  assert.equal(newer.schema, SCHEMA + 1);
});

test('a worker that has shown no life for a lease holds up nothing', async (t) => {
  const { store, folder, clock } = await openTemp(t);
  await register(store, 'gone');
  clock.advance(31_000);
  const newer = await openStoreWith({ folder, clock }, second());
  t.after(() => newer.close());
  assert.equal(newer.schema, SCHEMA + 1);
});

test('a queue of the first schema goes on: its jobs, and its sleeps, which it had marked as over', async (t) => {
  const first: OpenParts = {
    ground: () => ({ kind: 'local' }),
    schema: 1,
    migrations: () => loadMigrations().slice(0, 1),
  };
  const { store: older, folder, clock } = await openTemp(t, {}, first);
  const id = await addOne(older);
  await older.write(({ db, now }) =>
    db
      .prepare(`INSERT INTO checkpoints (job_id, name, kind, attempt, at, until) VALUES (?, 'nap', 'sleep', 1, ?, ?)`)
      .run(id, now, now),
  );
  await older.close();
  const { store } = await openTemp(t, { folder, clock });
  assert.equal(store.schema, SCHEMA);
  await register(store);
  const [owner] = await claim(store);
  assert.ok(owner);
  assert.equal((await store.write((tx) => transitions.sleep(tx, owner, 'nap', 60_000))).elapsed, true);
  assert.equal(store.read((r) => queries.checkpoints(r, id))[0]?.kind, 'sleep');
  assertSound(store);
});
