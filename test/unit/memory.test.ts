/** The server gives memory back once work has paused, and only then, and only when it is worth it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import v8 from 'node:v8';
import { tidyWhenQuiet } from '../../server/memory.ts';
import { waitFor } from '../helpers/waitFor.ts';

const MIB = 1024 * 1024;

it('collects after a pause when much was taken, and is still while nothing happens', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let held = 10 * MIB;
  let collected = 0;
  const collect = () => {
    collected += 1;
    held = 11 * MIB;
  };
  const tidy = tidyWhenQuiet({ collect, held: () => held });
  const after = (ms: number): number => {
    t.mock.timers.tick(ms);
    return collected;
  };
  held = 30 * MIB;
  assert.equal(after(900), 0);
  for (let i = 0; i < 5; i += 1) {
    tidy.touch();
    assert.equal(after(900), 0, 'work goes on');
  }
  assert.equal(after(2000), 1);
  held = 30 * MIB;
  assert.equal(after(10_000), 1, 'nothing was touched');
  held = 14 * MIB;
  tidy.touch();
  assert.equal(after(10_000), 1, 'it is not worth it');
  held = 30 * MIB;
  tidy.touch();
  assert.equal(after(10_000), 2);
  tidy.touch();
  tidy.stop();
  held = 60 * MIB;
  assert.equal(after(10_000), 2, 'it was stopped');
});

it('what was taken goes back to the system', async () => {
  const heap = (): number => v8.getHeapStatistics().total_physical_size;
  const tidy = tidyWhenQuiet();
  const before = heap();
  const rows: unknown[] = Array.from({ length: 400_000 }, (_, id) => ({ id, lane: `lane${id}` }));
  const grown = heap() - before;
  assert.ok(grown > 10 * MIB, `${grown} bytes`);
  rows.length = 0;
  tidy.touch();
  await waitFor(() => heap() - before < grown / 2, { what: 'the heap to shrink' });
  tidy.stop();
});
