/** P10: from a byte that a job writes to that byte at a client that follows, over the socket. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { Connection } from '../../shared/connection.ts';
import { Add, Follow, LogGrew, Output, Wait } from '../../shared/protocol.ts';
import { type Measurement, programs } from '../lib/measurement.ts';
import { CALLER, place, served } from '../lib/place.ts';
import { percentile } from '../lib/stats.ts';

/** Milliseconds between two lines of the job. No divisor of anything that could poll. */
const EVERY_MS = 37;
const now = (): number => performance.timeOrigin + performance.now();

export const p10: Measurement = {
  id: 'P10',
  title: 'following a log',
  run: (bench) =>
    served(place(bench.scratch, 'follow'), async ({ connection, workspace }) => {
      const lines = bench.pick(300, 60);
      const program = [process.execPath, path.join(programs, 'writer.cjs'), String(EVERY_MS), String(lines)];
      const [followed, watched] = await Promise.all([
        follow(connection, program, workspace),
        watch(program, path.join(bench.scratch, 'watched.log')),
      ]);
      const row = (p: number, atMost: number) => ({
        what: `byte written to byte at a client, p${p}`,
        value: percentile(followed, p),
        unit: 'ms',
        beside: { what: 'watching the file oneself', value: percentile(watched, p) },
        ratio: percentile(followed, p) / percentile(watched, p),
        target: { of: 'value' as const, atMost },
      });
      return [row(50, 5), row(99, 25)];
    }),
};

/** Latencies of the lines, ms. */
async function follow(connection: Connection, argv: string[], workspace: string): Promise<number[]> {
  const { jobs } = await connection.request(Add, { jobs: [{ argv, cwd: workspace }], caller: CALLER });
  const job = jobs[0]?.id ?? 0;
  const ended = connection.request(Wait, { selection: { ids: [job] } });
  const took: number[] = [];
  const read = reader(took);
  let offset = 0;
  let reading = Promise.resolve();
  const pull = (): void => {
    reading = reading.then(async () => {
      const page = await connection.request(Output, { job, offset });
      offset = page.offset + page.bytes;
      read(page.text);
    });
  };
  const off = connection.on(LogGrew, pull);
  await connection.request(Follow, { job });
  pull();
  await ended;
  await reading;
  off();
  return took;
}

/** The same with nothing between: a file, its watcher, a read. */
async function watch(argv: string[], file: string): Promise<number[]> {
  const [program = '', ...args] = argv;
  const descriptor = fs.openSync(file, 'a+');
  const took: number[] = [];
  const read = reader(took);
  const buffer = Buffer.alloc(65_536);
  let offset = 0;
  const watcher = fs.watch(file, () => {
    const bytes = fs.readSync(descriptor, buffer, 0, buffer.length, offset);
    offset += bytes;
    read(buffer.toString('latin1', 0, bytes));
  });
  const child = spawn(program, args, { stdio: ['ignore', descriptor, 'inherit'] });
  await new Promise((resolve, reject) => child.once('exit', resolve).once('error', reject));
  watcher.close();
  fs.closeSync(descriptor);
  return took;
}

/** Takes text as it comes; for each whole line, which is a time, notes how old it is. */
function reader(took: number[]): (text: string) => void {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) took.push(now() - Number(line));
  };
}
