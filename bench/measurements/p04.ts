/** P4: a batch of 10,000 jobs in one transaction, beside the rows alone in a table without rules. */
import fs from 'node:fs';
import path from 'node:path';
import { connect, configure } from '../../server/store/sqlite.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { Add } from '../../shared/protocol.ts';
import { interleave } from '../lib/interleave.ts';
import type { Measurement } from '../lib/measurement.ts';
import { CALLER, openPlace, pauseLane, place, served } from '../lib/place.ts';
import { median, pairedRatio } from '../lib/stats.ts';

const JOBS = 10_000;
const perSecond = (ms: number): number => (JOBS * 1000) / ms;

export const p04: Measurement = {
  id: 'P4',
  title: 'batch add',
  async run(bench) {
    const store = await openPlace(place(bench.scratch, 'batch'));
    const file = path.join(bench.scratch, 'plain.db');
    fs.writeFileSync(file, '');
    const plain = await connect(file, { busyMs: 50 });
    try {
      configure(plain);
      plain.exec('CREATE TABLE plain (id INTEGER PRIMARY KEY, a, b, c, d, e, f)');
      const insert = plain.prepare('INSERT INTO plain (a, b, c, d, e, f) VALUES (?, ?, ?, ?, ?, ?)');
      const all = plain.transaction(() => {
        for (let i = 0; i < 3 * JOBS; i += 1) insert.run('lane', '["npm","run","build"]', '/home', 0, 18, Date.now());
      });
      const batch = Array.from({ length: JOBS }, () => ({ argv: ['npm', 'run', 'build'], cwd: '/', lane: 'batch' }));
      return await served(place(bench.scratch, 'batch-served'), async (server) => {
        await pauseLane(server, 'batch');
        const samples = await interleave(
          {
            added: () => timed(() => store.write((tx) => transitions.add(tx, batch, CALLER))),
            plain: () => timed(async () => all()),
            socket: () => timed(() => server.connection.request(Add, { jobs: batch, caller: CALLER })),
          },
          { rounds: bench.pick(8, 3) },
        );
        const rates = (of: number[]): number[] => of.map(perSecond);
        const beside = { what: 'as many bare rows', value: median(rates(samples.plain)) };
        const ratio = (of: number[]): number => pairedRatio(samples.plain, of);
        return [
          {
            what: 'batch add, one transaction of 10,000',
            value: median(rates(samples.added)),
            unit: 'jobs/s',
            beside,
            ratio: ratio(samples.added),
            target: { of: 'value', atLeast: 40_000 },
          },
          {
            what: 'the same over the socket, with all jobs in the answer',
            value: median(rates(samples.socket)),
            unit: 'jobs/s',
            beside,
            ratio: ratio(samples.socket),
          },
        ];
      });
    } finally {
      plain.close();
      await store.close();
    }
  },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
