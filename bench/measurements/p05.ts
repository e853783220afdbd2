/** P5: what a claim costs, whatever else the queue holds. Measured within its transaction, without the disk's sync. */
import type { AttemptEnd, Claimed, Store } from '../../server/store/api.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { addDelayed, addWaiting, largePlace, sizes } from '../lib/bulk.ts';
import { interleave } from '../lib/interleave.ts';
import type { Measurement } from '../lib/measurement.ts';
import { openPlace, place } from '../lib/place.ts';
import { median, pairedRatio } from '../lib/stats.ts';
import { claimNext, registerWorker } from '../lib/worker.ts';

const LANE = 'lane-of-the-claim';
/** Claims that one sample is the median of. */
const CLAIMS = 40;
const END: AttemptEnd = {
  kind: 'exited',
  exitCode: 0,
  signal: null,
  error: null,
  stdoutBytes: 0,
  stderrBytes: 0,
  signalled: false,
};

export const p05: Measurement = {
  id: 'P5',
  title: 'cost of a claim',
  async run(bench) {
    const { finished, waiting } = sizes(bench);
    const delayed = bench.pick(100_000, 10_000);
    const stores = {
      empty: await openPlace(place(bench.scratch, 'claim-empty')),
      large: await openPlace(await largePlace(bench)),
      delayed: await openPlace(place(bench.scratch, 'claim-delayed')),
      lanes: await openPlace(place(bench.scratch, 'claim-lanes')),
    };
    try {
      await addDelayed(stores.delayed, delayed, LANE);
      for (let lane = 0; lane < 63; lane += 1) await addWaiting(stores.lanes, 100, `other${lane}`);
      for (const store of Object.values(stores)) await prepare(store);
      const samples = await interleave(
        {
          empty: () => claims(stores.empty),
          large: () => claims(stores.large),
          delayed: () => claims(stores.delayed),
          lanes: () => claims(stores.lanes),
        },
        { rounds: bench.pick(15, 4), warmUp: 2 },
      );
      const row = (what: string, of: number[]) => ({
        what: `a claim beside ${what}`,
        value: median(of) * 1000,
        unit: 'µs',
        beside: { what: 'empty queue', value: median(samples.empty) * 1000 },
        ratio: pairedRatio(of, samples.empty),
        target: { of: 'ratio' as const, atMost: 1.1 },
      });
      const thousands = (n: number) => n.toLocaleString('en-US');
      return [
        row(`${thousands(finished)} finished and ${thousands(waiting)} paused jobs`, samples.large),
        row(`${thousands(delayed)} delayed jobs of higher priority`, samples.delayed),
        row('63 other lanes with due jobs', samples.lanes),
      ];
    } finally {
      for (const store of Object.values(stores)) await store.close();
    }
  },
};

async function prepare(store: Store): Promise<void> {
  await store.write((tx) => {
    transitions.setLane(tx, LANE, { slots: 10_000 });
    registerWorker(tx, CLAIMS);
  });
}

/** Milliseconds of one claim; the jobs are ended again. */
async function claims(store: Store): Promise<number> {
  const jobs = Array.from({ length: CLAIMS }, () => ({ argv: ['true'], cwd: '/', lane: LANE, priority: 5 }));
  await store.write((tx) => transitions.add(tx, jobs, { env: {}, umask: 0o022 }));
  const took: number[] = [];
  const claimed: Claimed[] = [];
  for (let i = 0; i < CLAIMS; i += 1) {
    await store.write((tx) => {
      const began = performance.now();
      const one = claimNext(tx);
      took.push(performance.now() - began);
      if (one?.lane !== LANE) throw new Error('another job was claimed');
      claimed.push(one);
    });
  }
  await store.write((tx) => {
    for (const one of claimed) transitions.finish(tx, one, END);
  });
  return median(took);
}
