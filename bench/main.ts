/**
 * `npm run bench`: measures Laneway next to yardsticks of the same run, prints a table, and writes
 * `bench/results.json`. Wants the bundles built; scripts/bench.mjs sees to that.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MEASUREMENTS } from './measurements/index.ts';
import { askScript } from './lib/processes.ts';
import { isMet, type Row } from './lib/rows.ts';
import { table } from './lib/table.ts';

const args = process.argv.slice(2);
const quick = args.includes('--quick');
const wanted = args.filter((arg) => !arg.startsWith('-')).map((arg) => arg.toUpperCase());
const unknown = wanted.filter((id) => !MEASUREMENTS.some((one) => one.id === id));
if (unknown.length > 0 || args.some((arg) => arg.startsWith('-') && arg !== '--quick')) {
  process.stderr.write(`usage: npm run bench -- [${MEASUREMENTS.map(({ id }) => id).join('] [')}] [--quick]\n`);
  process.exit(2);
}

const script = path.join(import.meta.dirname, 'one.ts');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'lanebench-'));
const began = performance.now();
const rows: Row[] = [];
const notes: string[] = [];
const failed: string[] = [];
const load = os.loadavg()[0] ?? 0;
try {
  for (const { id, title } of MEASUREMENTS) {
    if (wanted.length > 0 && !wanted.includes(id)) continue;
    process.stderr.write(`${id} ${title} …`);
    const since = performance.now();
    try {
      const result = await askScript(script, [id, scratch, ...(quick ? ['--quick'] : [])]);
      const measured = result as { rows: Row[]; notes: string[] };
      rows.push(...measured.rows);
      notes.push(...measured.notes);
    } catch (error) {
      failed.push(`${id}: ${(error as Error).message}`);
    }
    process.stderr.write(` ${((performance.now() - since) / 1000).toFixed(1)} s\n`);
  }
} finally {
  fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

const machine = `${os.availableParallelism()} × ${os.cpus()[0]?.model ?? 'unknown'}, ${os.type()} ${os.release()}, Node ${process.versions.node}, load ${load.toFixed(1)} at the start`;
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(`\n${machine}; ${quick ? 'short' : 'full'} run, ${seconds} s\n\n${table(rows)}\n`);
for (const line of [...notes, ...failed.map((one) => `failed: ${one}`)]) process.stdout.write(`\n${line}`);
process.stdout.write('\n');
const results = { machine, quick, seconds, rows: rows.map((row) => ({ ...row, met: isMet(row) })), notes, failed };
fs.writeFileSync(path.join(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`);
process.exitCode = failed.length > 0 ? 1 : 0;
