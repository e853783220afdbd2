/** P13: a step of pruning never holds the write lock for 50 ms, nor keeps a claim waiting that long. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock as clock } from '../../server/clock.ts';
import { prune } from '../../server/retention.ts';
import type { Store } from '../../server/store/api.ts';
import { largePlace, sizes } from '../lib/bulk.ts';
import type { Measurement } from '../lib/measurement.ts';
import { openPlace } from '../lib/place.ts';
import { percentile } from '../lib/stats.ts';
import { claimNext, registerWorker } from '../lib/worker.ts';

/** Between two claims, in milliseconds. */
const CLAIM_EVERY_MS = 5;
const DAY_MS = 86_400_000;

export const p13: Measurement = {
  id: 'P13',
  title: 'pruning beside claims',
  async run(bench) {
    const where = await largePlace(bench);
    const store = await openPlace(where);
    try {
      const steps: number[] = [];
      const waits: number[] = [];
      const deadline = performance.now() + bench.pick(8000, 2000);
      let over = false;
      const claiming = claims(store, waits, () => over);
      const before = clock.now() - 30 * DAY_MS;
      const began = performance.now();
      const { deleted } = await prune(
        { store: timing(store, steps), clock, paths: where.paths },
        { before, states: ['done', 'dead', 'canceled'] },
        () => performance.now() < deadline,
      );
      const rate = (deleted * 1000) / (performance.now() - began);
      over = true;
      await claiming;
      const size = `${sizes(bench).finished.toLocaleString('en-US')} finished`;
      const row = (what: string, of: number[], p: number, atMost?: number) => ({
        what: `${what}, ${size}, p${p}`,
        value: percentile(of, p),
        unit: 'ms',
        ...(atMost === undefined ? {} : { target: { of: 'value' as const, atMost } }),
      });
      return [
        row('a step of pruning', steps, 50),
        row('a step of pruning', steps, 99, 50),
        row('a claim meanwhile, with its commit', waits, 50),
        row('a claim meanwhile, with its commit', waits, 99, 50),
        { what: 'pruned meanwhile', value: rate, unit: 'jobs/s' },
      ];
    } finally {
      await store.close();
    }
  },
};

/** The store with the time of each write, from its transaction's begin to its commit. */
function timing(store: Store, took: number[]): Store {
  return {
    ...store,
    write: async (transition) => {
      let began = 0;
      const result = await store.write((tx) => {
        began = performance.now();
        return transition(tx);
      });
      took.push(performance.now() - began);
      return result;
    },
  };
}

/** Claims that find nothing, as a worker's do while it is idle; notes how long each took. */
async function claims(store: Store, waits: number[], over: () => boolean): Promise<void> {
  await store.write((tx) => registerWorker(tx, 1));
  while (!over()) {
    const began = performance.now();
    await store.write(claimNext);
    waits.push(performance.now() - began);
    await pause(CLAIM_EVERY_MS);
  }
}
