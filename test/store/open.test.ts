/** Opening a queue: private, durable, sound, or refused with words; damage is set aside and nothing else is. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test, { type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { tryFileLock } from '../../server/store/fileLock.ts';
import { judgeFilesystem } from '../../server/store/filesystem.ts';
import { openStore, openStoreWith } from '../../server/store/open.ts';
import { loadSqlite } from '../../server/store/sqlite.ts';
import { addOne, eventsOf, fakeClock, openTemp, stateOf, tempFolder } from './support.ts';

const root = process.getuid?.() === 0;
const mode = (file: string): number => fs.statSync(file).mode & 0o777;

/** What lies there, without the empty files that a reader leaves beside a database. */
const namesOf = (folder: string): string[] => fs.readdirSync(folder).filter((name) => !/-(shm|wal)$/.test(name));

/** A folder with a closed queue of some jobs. */
async function closedQueue(t: TestContext, jobs = 1): Promise<{ folder: string; file: string; instance: string }> {
  const folder = tempFolder(t);
  const store = await openStore({ folder, clock: fakeClock() });
  for (let n = 0; n < jobs; n++) await addOne(store, { label: `job ${n}`, env: { FILL: 'x'.repeat(2000) } });
  await store.close();
  return { folder, file: store.path, instance: store.instance };
}

test(
  'folder and files are private under any umask',
  { skip: process.platform === 'win32' && 'no modes' },
  async (t) => {
    const before = process.umask(0o022);
    t.after(() => process.umask(before));
    const folder = path.join(tempFolder(t), 'a', 'b');
    const { store } = await openTemp(t, { folder });
    await addOne(store);
    assert.equal(mode(folder), 0o700);
    for (const suffix of ['', '-wal', '-shm']) assert.equal(mode(store.path + suffix), 0o600, suffix);
  },
);

test(
  'a queue that others could read is made private',
  { skip: process.platform === 'win32' && 'no modes' },
  async (t) => {
    const { folder, file } = await closedQueue(t);
    fs.chmodSync(folder, 0o755);
    fs.chmodSync(file, 0o644);
    await openTemp(t, { folder });
    assert.deepEqual([mode(folder), mode(file)], [0o700, 0o600]);
  },
);

test('every connection is durable, a reopened one too, and the queue keeps its name', async (t) => {
  const { folder, instance } = await closedQueue(t);
  const { store } = await openTemp(t, { folder });
  const pragmas = store.read(({ db }) =>
    ['journal_mode', 'synchronous', 'foreign_keys'].map((name) => db.pragma(name, { simple: true })),
  );
  assert.deepEqual(pragmas, ['wal', 2, 1]);
  assert.equal(store.instance, instance);
  assert.deepEqual(eventsOf(store, 1), ['added']);
});

const DAMAGES: Record<string, (file: string) => void> = {
  'a header of garbage': (file) => fs.writeFileSync(file, 'not a database, '.repeat(1000)),
  'a file cut off': (file) => fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2)),
  'a header cut off': (file) => fs.truncateSync(file, 60),
  'pages overwritten in the middle': (file) => {
    const bytes = fs.readFileSync(file);
    bytes.fill(0x5a, 8 * 4096, bytes.length - 4096);
    fs.writeFileSync(file, bytes);
  },
};

for (const [damage, inflict] of Object.entries(DAMAGES)) {
  test(`${damage}: set aside whole, announced, a new queue starts`, async (t) => {
    const { folder, file, instance } = await closedQueue(t, 30);
    inflict(file);
    fs.writeFileSync(`${file}-wal`, 'a log that nobody can replay');
    const damaged = fs.readFileSync(file);
    const said: string[] = [];
    const { store } = await openTemp(t, { folder, warn: (message) => said.push(message) });
    const aside = fs.readdirSync(folder).filter((name) => name.startsWith('queue.damaged-') && !name.endsWith('-shm'));
    assert.deepEqual(
      aside.map((name) => name.replace(/\d{8}T\d{6}/, 'AT')),
      ['queue.damaged-AT.db', 'queue.damaged-AT.db-wal'],
    );
    assert.deepEqual(fs.readFileSync(path.join(folder, aside[0] as string)), damaged);
    assert.match(said.join('\n'), /damaged.*set aside as .*queue\.damaged-.*new, empty one starts/);
    assert.notEqual(store.instance, instance);
    assert.equal(stateOf(store, await addOne(store)), 'queued');
  });
}

test('many who find the damage at once set it aside once, and meet in one new queue', async (t) => {
  const { folder, file } = await closedQueue(t);
  fs.writeFileSync(file, 'garbage '.repeat(1000));
  const stores = await Promise.all(Array.from({ length: 5 }, () => openTemp(t, { folder })));
  assert.equal(new Set(stores.map(({ store }) => store.instance)).size, 1);
  assert.equal(namesOf(folder).filter((name) => name.includes('damaged')).length, 1);
});

test('a second damage takes a name of its own', async (t) => {
  const { folder, file } = await closedQueue(t);
  for (let n = 0; n < 2; n++) {
    fs.writeFileSync(file, 'garbage '.repeat(1000));
    await (await openStore({ folder, clock: fakeClock() })).close();
  }
  assert.equal(namesOf(folder).filter((name) => name.includes('damaged')).length, 2);
});

test('with mustExist damage is told and nothing is moved', async (t) => {
  const { folder, file } = await closedQueue(t);
  fs.writeFileSync(file, 'garbage '.repeat(1000));
  await assert.rejects(openStore({ folder, clock: fakeClock(), mustExist: true }), { code: 'CORRUPT' });
  assert.deepEqual(namesOf(folder), ['queue.db']);
});

test('with mustExist nothing is made', async (t) => {
  const folder = path.join(tempFolder(t), 'none');
  await assert.rejects(openStore({ folder, clock: fakeClock(), mustExist: true }), { code: 'NOT_FOUND' });
  assert.equal(fs.existsSync(folder), false);
});

test('a newer schema is refused, and not one byte changed', async (t) => {
  const { folder, file } = await closedQueue(t);
  const Sqlite = await loadSqlite();
  const db = new Sqlite(file);
  db.pragma('user_version = 99');
  db.close();
  const before = fs.readFileSync(file);
  await assert.rejects(openStore({ folder, clock: fakeClock() }), { code: 'SCHEMA_NEWER', message: /schema 99/ });
  assert.deepEqual(fs.readFileSync(file), before);
  assert.deepEqual(namesOf(folder), ['queue.db']);
});

test("somebody else's database is refused and left alone", async (t) => {
  const folder = tempFolder(t);
  const Sqlite = await loadSqlite();
  const db = new Sqlite(path.join(folder, 'queue.db'));
  db.exec('CREATE TABLE recipes (name TEXT)');
  db.close();
  await assert.rejects(openStore({ folder, clock: fakeClock() }), { code: 'REFUSED' });
  assert.deepEqual(namesOf(folder), ['queue.db']);
});

test('a lock is waited for, and is no damage', async (t) => {
  const { folder, file, instance } = await closedQueue(t);
  const Sqlite = await loadSqlite();
  const holder = new Sqlite(file);
  // Outside of WAL an exclusive lock keeps readers out too.
  holder.pragma('journal_mode = DELETE');
  holder.exec('BEGIN EXCLUSIVE');
  let open = false;
  const opening = openTemp(t, { folder }).then((opened) => {
    open = true;
    return opened;
  });
  for (let turns = 0; turns < 200; turns++) await nextTurn();
  assert.equal(open, false);
  holder.exec('COMMIT');
  holder.close();
  assert.equal((await opening).store.instance, instance);
});

test('a folder that cannot be is an ENVIRONMENT error with a way out', async (t) => {
  const folder = tempFolder(t);
  fs.writeFileSync(path.join(folder, 'file'), '');
  fs.mkdirSync(path.join(folder, 'taken', 'queue.db'), { recursive: true });
  for (const place of ['file/below', 'taken']) {
    await assert.rejects(openStore({ folder: path.join(folder, place), clock: fakeClock() }), (error: unknown) => {
      const { code, message, hint } = error as { code: string; message: string; hint: string };
      assert.equal(code, 'ENVIRONMENT');
      assert.match(message, /queue/);
      assert.match(hint, /LANEWAY_HOME/);
      return true;
    });
  }
  assert.deepEqual(fs.readdirSync(path.join(folder, 'taken')), ['queue.db']);
});

test(
  'no permission is an ENVIRONMENT error, and nothing is set aside',
  { skip: root && 'root may read everything' },
  async (t) => {
    const { folder, file } = await closedQueue(t);
    fs.chmodSync(file, 0o400);
    fs.chmodSync(folder, 0o500);
    t.after(() => fs.chmodSync(folder, 0o700));
    await assert.rejects(openStore({ folder, clock: fakeClock() }), { code: 'ENVIRONMENT' });
    assert.deepEqual(namesOf(folder), ['queue.db']);
  },
);

test('a network file system is refused with the way to move, a doubtful one warned about', async (t) => {
  assert.deepEqual(judgeFilesystem(0x6969, 'linux'), { kind: 'network', name: 'NFS' });
  // statfs gives CIFS as a negative number on some machines.
  assert.equal(judgeFilesystem(0xff534d42 | 0, 'linux').kind, 'network');
  assert.equal(judgeFilesystem(0xef53, 'linux').kind, 'local');
  assert.equal(judgeFilesystem(0x6969, 'darwin').kind, 'local');
  const folder = tempFolder(t);
  const options = { folder, clock: fakeClock() };
  const network = { ground: () => ({ kind: 'network', name: 'NFS' }) as const, schema: 1 };
  await assert.rejects(openStoreWith(options, network), { code: 'REFUSED', hint: /LANEWAY_HOME/ });
  assert.deepEqual(fs.readdirSync(folder), []);
  const said: string[] = [];
  const doubtful = { ground: () => ({ kind: 'doubtful', name: 'FUSE' }) as const };
  await openTemp(t, { folder, warn: (message) => said.push(message) }, doubtful);
  assert.match(said.join(), /FUSE.*LANEWAY_HOME/);
});

test('an old Node.js is told, not crashed', async () => {
  await assert.rejects(loadSqlite('20.19.0'), { code: 'ENVIRONMENT', message: /Node\.js 22.*20\.19\.0/ });
});

test('a lock file is held by one, freed by release, and taken again', async (t) => {
  const file = path.join(tempFolder(t), 'lock.db');
  const first = await tryFileLock(file);
  assert.ok(first);
  assert.equal(await tryFileLock(file), null);
  assert.equal(mode(file) & 0o077, 0);
  first.release();
  first.release();
  const second = await tryFileLock(file);
  assert.ok(second);
  second.release();
});
