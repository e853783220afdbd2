/** P6: memory of the server: idle, with many jobs queued, after many have run. */
import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from 'node:child_process';
import { Resume, StatusRequest } from '../../shared/protocol.ts';
import type { Measurement } from '../lib/measurement.ts';
import { addMany, pauseLane, place, served, setSlots, until } from '../lib/place.ts';
import { residentMiB } from '../lib/processes.ts';

/** After the work, before the look: what can be given back has been. */
const SETTLE_MS = 3500;

export const p06: Measurement = {
  id: 'P6',
  title: 'memory of the server',
  async run(bench) {
    const bare = await bareNode();
    if (bare === null) {
      bench.note('not measured: there is no /proc here');
      return [];
    }
    const queued = bench.pick(100_000, 10_000);
    const run = bench.pick(5000, 500);
    const where = place(bench.scratch, 'memory');
    const figures = await served(where, async (server) => {
      const { connection, workspace, pid } = server;
      const settled = async (): Promise<number> => {
        await pause(SETTLE_MS);
        return residentMiB(pid) ?? Number.NaN;
      };
      await connection.request(StatusRequest, null);
      const idle = await settled();
      await pauseLane(server, 'still');
      await addMany(connection, queued, { argv: ['npm', 'run', 'build'], lane: 'still' }, workspace);
      return { idle, full: await settled() };
    });
    const after = await served(place(bench.scratch, 'memory-after'), async (server) => {
      const { connection, workspace, pid } = server;
      await setSlots(server, 'work', 8);
      await pauseLane(server, 'work');
      await addMany(connection, run, { argv: ['true'], lane: 'work' }, workspace);
      await connection.request(Resume, { lanes: ['work'] });
      const ended = async (): Promise<boolean> => {
        await pause(100);
        const { counts } = await connection.request(StatusRequest, null);
        return counts.queued + counts.running === 0;
      };
      await until(ended, 'the jobs to end', 300_000);
      await pause(SETTLE_MS);
      return residentMiB(pid) ?? Number.NaN;
    });
    const row = (what: string, value: number, atMost: number) => ({
      what,
      value,
      unit: 'MiB',
      beside: { what: 'empty Node', value: bare },
      ratio: value / bare,
      target: { of: 'value' as const, atMost },
    });
    return [
      row('server, idle', figures.idle, 75),
      row(`server, ${queued.toLocaleString('en-US')} queued in batches of 10,000`, figures.full, 80),
      row(`server, after ${run.toLocaleString('en-US')} jobs`, after, 85),
    ];
  },
};

async function bareNode(): Promise<number | null> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000); console.log("up")'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await pause(200);
  const held = residentMiB(child.pid ?? 0);
  child.kill();
  return held;
}
