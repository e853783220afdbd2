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
  t.mock.timers.enable({ apis: ['setTimeout'] });
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

it('nobody writes: looks ever more rarely; a written log: soon again, until it is quiet', linuxOnly, async (t) => {
  const { folder, looksIn } = watching(t, 'linux');
  assert.deepEqual([1, 2, 4, 8, 16].map(looksIn), [1, 1, 1, 1, 1], 'each after twice the time');
  assert.ok(looksIn(330) <= 10, 'hardly ever');
  fs.writeFileSync(path.join(folder, 'server.log'), 'a line');
  fs.writeFileSync(path.join(folder, 'queue.db-wal'), 'a commit');
  await waitFor(() => looksIn(1) + looksIn(2) === 2, { what: 'looks soon after' });
  assert.deepEqual([4, 8].map(looksIn), [1, 1]);
});

it('goes on looking while it sees changes, and stops when told', linuxOnly, (t) => {
  const { seen, looksIn, stop } = watching(t, 'linux');
  seen.changed = true;
  assert.equal(looksIn(50), 50);
  seen.changed = false;
  assert.deepEqual([1, 2, 4, 8].map(looksIn), [1, 1, 1, 1]);
  stop();
  assert.equal(looksIn(40), 0);
});

it('elsewhere nothing but looking tells', (t) => {
  const { looksIn } = watching(t, 'darwin');
  assert.equal(looksIn(50), 50);
});
