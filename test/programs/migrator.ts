/** A build of a newer schema: opens a queue, and so migrates it, and looks whether its job is there. Argument: the folder. */
import assert from 'node:assert/strict';
import { systemClock as clock } from '../../server/clock.ts';
import { parsePoints } from '../../server/run/points.ts';
import { judgeFilesystem } from '../../server/store/filesystem.ts';
import { loadMigrations, SCHEMA } from '../../server/store/migrate.ts';
import { openStoreWith } from '../../server/store/open.ts';
import * as queries from '../../server/store/queries/index.ts';

const [folder = ''] = process.argv.slice(2);
const newer = 'CREATE TABLE newer (id INTEGER PRIMARY KEY) STRICT; INSERT INTO newer SELECT id FROM jobs;';
const store = await openStoreWith(
  { folder, clock, point: parsePoints(process.env['LANEWAY_TEST_POINTS']) },
  { ground: () => judgeFilesystem(0, 'linux'), schema: SCHEMA + 1, migrations: () => [...loadMigrations(), newer] },
);
assert.equal(store.read((reader) => queries.job(reader, 1))?.state, 'done');
assert.deepEqual(
  store.read(({ db }) => db.prepare('SELECT id FROM newer').all()),
  [{ id: 1 }],
);
await store.close();
