/** Others' commits are looked for often while the database is written, and hardly while it is not. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { it, type TestContext } from 'node:test';
import { WATCH_MS, watchDatabase } from '../../server/events/watch.ts';
import { waitFor } from '../helpers/waitFor.ts';

function watching(t: TestContext, platform: NodeJS.Platform) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'laneway-watch-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  t.mock.timers.enable({ apis: ['setInterval'] });
  const seen = { looks: 0, changed: false };
  const stop = watchDatabase(
    path.join(folder, 'queue.db'),
    () => {
      seen.looks += 1;
      return seen.changed;
    },
    platform,
  );
  t.after(stop);
  /** How often it looks in the time of so many short intervals. */
  const looksIn = (intervals: number): number => {
    const before = seen.looks;
    for (let i = 0; i < intervals; i += 1) t.mock.timers.tick(WATCH_MS);
    return seen.looks - before;
  };
  return { folder, seen, looksIn, stop };
}

const linuxOnly = { skip: process.platform === 'linux' ? false : 'only on Linux is the system asked' };

it('nobody writes: a look a second; a written log: looks at once, until it is quiet again', linuxOnly, async (t) => {
  const { folder, looksIn } = watching(t, 'linux');
  assert.equal(looksIn(10), 10);
  assert.equal(looksIn(1), 1, 'once more when the watch stands');
  assert.equal(looksIn(48), 2, 'a look a second');
  fs.writeFileSync(path.join(folder, 'server.log'), 'a line');
  fs.writeFileSync(path.join(folder, 'queue.db-wal'), 'a commit');
  await waitFor(() => looksIn(4) === 4, { what: 'frequent looks' });
  await waitFor(() => looksIn(4) <= 1, { what: 'rare looks' });
});

it('goes on looking while it sees changes, and stops when told', linuxOnly, (t) => {
  const { seen, looksIn, stop } = watching(t, 'linux');
  seen.changed = true;
  assert.equal(looksIn(50), 50);
  seen.changed = false;
  assert.equal(looksIn(40), 12);
  stop();
  assert.equal(looksIn(40), 0);
});

it('elsewhere nothing but looking tells', (t) => {
  const { looksIn } = watching(t, 'darwin');
  assert.equal(looksIn(50), 50);
});
