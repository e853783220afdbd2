/**
 * P2: from `add` to the job's first instruction, in the process that serves, on an idle queue. The job is
 * `date`, which prints the time once it runs: its own start is part of the figure, and of the yardstick.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Add, Show, Wait } from '../../shared/protocol.ts';
import type { Connection } from '../../shared/connection.ts';
import { interleave } from '../lib/interleave.ts';
import type { Measurement } from '../lib/measurement.ts';
import { CALLER, openDirect, place, served } from '../lib/place.ts';
import { median, percentile } from '../lib/stats.ts';

const DATE = ['date', '+%s%N'];
const now = (): number => performance.timeOrigin + performance.now();

export const p02: Measurement = {
  id: 'P2',
  title: 'add to first instruction',
  async run(bench) {
    if (process.platform !== 'linux') {
      bench.note('not measured: `date` tells no nanoseconds here');
      return [];
    }
    const here = place(bench.scratch, 'latency');
    const direct = await openDirect(here, true);
    try {
      return await served(place(bench.scratch, 'latency-served'), async (server) => {
        const samples = await interleave(
          {
            raw: () => rawSpawn(bench.scratch),
            inside: () => addAndRun(direct, here.workspace),
            socket: () => addAndRun(server.connection, server.workspace),
          },
          { rounds: bench.pick(150, 25), warmUp: 5 },
        );
        const row = (what: string, of: number[], p: number, atMost?: number) => ({
          what: `${what}, p${p}`,
          value: percentile(of, p),
          unit: 'ms',
          beside: { what: 'spawn alone', value: percentile(samples.raw, p) },
          ratio: percentile(of, p) / percentile(samples.raw, p),
          ...(atMost === undefined ? {} : { target: { of: 'value' as const, atMost } }),
        });
        bench.note(`an idle queue; beside it ${median(samples.raw).toFixed(2)} ms for the process alone`);
        return [
          row('add to first instruction, in the server', samples.inside, 50, 4),
          row('add to first instruction, in the server', samples.inside, 99, 10),
          row('the same over the socket', samples.socket, 50),
          row('the same over the socket', samples.socket, 99),
        ];
      });
    } finally {
      await direct.close();
    }
  },
};

async function addAndRun(connection: Connection, workspace: string): Promise<number> {
  // What the job before left to do is done, and the queue is idle.
  await pause(10);
  const began = now();
  const { jobs } = await connection.request(Add, { jobs: [{ argv: DATE, cwd: workspace }], caller: CALLER });
  const ids = jobs.map((job) => job.id);
  await connection.request(Wait, { selection: { ids } });
  const { attempts } = await connection.request(Show, { job: ids[0] ?? 0 });
  return printed(attempts[0]?.stdoutPath ?? '') - began;
}

async function rawSpawn(scratch: string): Promise<number> {
  await pause(10);
  const file = path.join(scratch, 'date.log');
  const began = now();
  const descriptor = fs.openSync(file, 'w');
  const child = spawn('date', DATE.slice(1), {
    stdio: ['ignore', descriptor, descriptor],
    env: CALLER.env,
    detached: true,
  });
  fs.closeSync(descriptor);
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  return printed(file) - began;
}

/** Milliseconds since the epoch. */
function printed(file: string): number {
  return Number(BigInt(fs.readFileSync(file, 'utf8').trim()) / 1000n) / 1000;
}
