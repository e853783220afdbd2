/** Group commit: one transaction for what arrives together, each call for itself, no lock that blocks the loop. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../server/store/api.ts';
import { toStoreError } from '../../server/store/sqliteErrors.ts';
import { loadSqlite } from '../../server/store/sqlite.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import { add, addOne, assertSound, CALLER, job, openTemp, stateOf } from './support.ts';

const jobs = (store: Store): number =>
  store.read(({ db }) => db.prepare<[], number>('SELECT count(*) FROM jobs').pluck().get() ?? 0);

test('calls that arrive together are one commit, and each is answered after it', async (t) => {
  // On a clock whose ticks stand still: a group ends early when it takes long, as on a busy machine.
  const { store, folder } = await openTemp(t, { clock: { now: Date.now, ticks: () => 0 } });
  const { store: other } = await openTemp(t, { folder });
  let commits = 0;
  store.onCommit(() => (commits += 1));
  const before = other.dataVersion();
  const seen = await Promise.all(
    Array.from({ length: 50 }, async () => {
      await addOne(store);
      return jobs(other);
    }),
  );
  assert.equal(commits, 1);
  assert.deepEqual(new Set(seen), new Set([50]));
  assert.notEqual(other.dataVersion(), before);
});

test('a call that throws undoes itself alone and gets its own error', async (t) => {
  const { store } = await openTemp(t);
  const failure = new Error('changed my mind');
  const answers = await Promise.allSettled([
    addOne(store, { label: 'first' }),
    store.write((tx) => {
      transitions.add(tx, [job({ label: 'undone' })], CALLER);
      throw failure;
    }),
    addOne(store, { label: 'third' }),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.equal(((answers[1] as PromiseRejectedResult).reason as Error).message, failure.message);
  assert.equal(jobs(store), 2);
  assertSound(store);
});

test('a locked database is waited for while the event loop goes on', async (t) => {
  const { store } = await openTemp(t, { busyMs: 5 });
  const Sqlite = await loadSqlite();
  const holder = new Sqlite(store.path);
  t.after(() => holder.close());
  holder.exec('BEGIN IMMEDIATE');
  let written = false;
  const writing = addOne(store).then((id) => {
    written = true;
    return id;
  });
  for (let turns = 0; turns < 50; turns++) await nextTurn();
  // Readers are not held up either.
  assert.deepEqual([written, jobs(store)], [false, 0]);
  holder.exec('COMMIT');
  assert.equal(await writing, 1);
});

test('a full disk: a clear error, neighbours unharmed, the queue goes on when there is space', async (t) => {
  const { store } = await openTemp(t);
  const [kept] = await add(store, { label: 'kept' });
  const limit = store.read(({ db }) => {
    const pages = db.pragma('page_count', { simple: true }) as number;
    db.pragma(`max_page_count = ${pages + 12}`);
    return pages;
  });
  assert.ok(limit > 0);
  const huge = Array.from({ length: 2000 }, () => job({ env: { FILL: 'x'.repeat(1000) } }));
  const [small, large] = await Promise.allSettled([
    addOne(store, { label: 'small' }),
    store.write((tx) => transitions.add(tx, huge, CALLER)),
  ]);
  assert.equal(small.status, 'fulfilled');
  assert.equal(large.status, 'rejected');
  const { code, message } = (large as PromiseRejectedResult).reason as { code: string; message: string };
  assert.deepEqual([code, /disk is full/.test(message)], ['ENVIRONMENT', true]);
  assert.equal(jobs(store), 2);
  assertSound(store);
  store.read(({ db }) => db.pragma('max_page_count = 1000000'));
  await store.write((tx) => transitions.add(tx, huge, CALLER));
  assert.equal(jobs(store), 2002);
  assert.equal(stateOf(store, kept as number), 'queued');
});

test('a database that was deleted or replaced in use takes no more acknowledged jobs', async (t) => {
  const { store } = await openTemp(t);
  await addOne(store);
  fs.renameSync(store.path, `${store.path}.gone`);
  await assert.rejects(addOne(store), { code: 'ENVIRONMENT', message: /deleted or replaced/ });
});

test('closing finishes what was asked for, twice does nothing, later writes are refused', async (t) => {
  const { store, folder } = await openTemp(t);
  const writing = Promise.all([addOne(store), addOne(store)]);
  await Promise.all([store.close(), writing]);
  await store.close();
  await assert.rejects(addOne(store), { code: 'ENVIRONMENT' });
  const { store: again } = await openTemp(t, { folder });
  assert.equal(jobs(again), 2);
});

test('more calls than one transaction takes are all written, in order', async (t) => {
  const { store } = await openTemp(t);
  const ids = await Promise.all(Array.from({ length: 500 }, () => addOne(store)));
  assert.deepEqual(
    ids,
    Array.from({ length: 500 }, (_, n) => n + 1),
  );
});

test('what the file system refuses is the environment’s trouble, in words, and all else is ours', () => {
  const cases: [string, ErrorCode, RegExp][] = [
    ['ENOSPC', 'ENVIRONMENT', /disk is full, nothing was changed: .*queue\.db/],
    ['SQLITE_FULL', 'ENVIRONMENT', /disk is full/],
    ['EACCES', 'ENVIRONMENT', /cannot be opened: .*queue\.db/],
    ['SQLITE_CANTOPEN', 'ENVIRONMENT', /cannot be opened/],
    ['EROFS', 'ENVIRONMENT', /cannot be written/],
    ['EMFILE', 'ENVIRONMENT', /out of memory or open files/],
    ['EIO', 'ENVIRONMENT', /could not be read or written/],
    ['SQLITE_CORRUPT', 'CORRUPT', /is damaged/],
    ['EWHATEVER', 'INTERNAL', /no/],
  ];
  for (const [code, expected, words] of cases) {
    const cause = Object.assign(new Error('no'), { code });
    const error = toStoreError(cause, '/state/queue.db');
    assert.deepEqual([error.code, words.test(error.message)], [expected, true], `${code}: ${error.message}`);
  }
});
