/** P9: a job that prints a lot is as fast as the same program sent into a file, and costs the server nothing. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Add, Prune, Show, Wait } from '../../shared/protocol.ts';
import { interleave } from '../lib/interleave.ts';
import type { Measurement } from '../lib/measurement.ts';
import { CALLER, place, type Served, served } from '../lib/place.ts';
import { cpuMs, timeCommand } from '../lib/processes.ts';
import { median, pairedRatio } from '../lib/stats.ts';

export const p09: Measurement = {
  id: 'P9',
  title: 'a job that prints a lot',
  run: (bench) =>
    served(place(bench.scratch, 'output'), async (server) => {
      const bytes = bench.pick(1_000_000_000, 200_000_000);
      const program = ['head', '-c', String(bytes), '/dev/zero'];
      const file = path.join(bench.scratch, 'redirected');
      const shares: number[] = [];
      const samples = await interleave(
        {
          job: () => run(server, program, shares),
          redirected: async () => {
            const took = await timeCommand(['sh', '-c', `exec ${program.join(' ')} > ${file}`]);
            fs.rmSync(file);
            return took;
          },
        },
        { rounds: bench.pick(5, 3) },
      );
      const speed = (of: number[]): number => bytes / 1e6 / (median(of) / 1000);
      return [
        {
          what: `a job that prints ${Math.round(bytes / 1e6)} MB`,
          value: speed(samples.job),
          unit: 'MB/s',
          beside: { what: 'redirected to a file', value: speed(samples.redirected) },
          ratio: pairedRatio(samples.redirected, samples.job),
          target: { of: 'ratio', atLeast: 0.95 },
        },
        {
          what: 'the server meanwhile',
          value: median(shares),
          unit: '% of a core',
          target: { of: 'value', atMost: 1 },
        },
      ];
    }),
};

/** From adding a job until its start is recorded, generously. */
const START_MS = 30;

/** Milliseconds of the attempt. `shares` gets what the server used of a core once it ran, in percent. */
async function run({ connection, workspace, pid }: Served, argv: string[], shares: number[]): Promise<number> {
  const { jobs } = await connection.request(Add, { jobs: [{ argv, cwd: workspace }], caller: CALLER });
  const ids = jobs.map((job) => job.id);
  const ended = connection.request(Wait, { selection: { ids } });
  await pause(START_MS);
  const before = cpuMs(pid);
  const began = performance.now();
  await ended;
  const after = cpuMs(pid);
  if (before !== null && after !== null) shares.push(((after - before) / (performance.now() - began)) * 100);
  const { attempts } = await connection.request(Show, { job: ids[0] ?? 0 });
  await connection.request(Prune, { olderThanMs: 0, dryRun: false });
  return attempts[0]?.durationMs ?? Number.NaN;
}
