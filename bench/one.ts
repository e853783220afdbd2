/**
 * One measurement in a process of its own: what an earlier one left in memory would slow down every
 * process that is started from here. `node bench/one.ts ID SCRATCH [--quick]`; the last line it
 * prints is its rows and notes as JSON.
 */
import { MEASUREMENTS } from './measurements/index.ts';
import type { Bench } from './lib/measurement.ts';

const [id = '', scratch = '', mode] = process.argv.slice(2);
const measurement = MEASUREMENTS.find((one) => one.id === id);
if (measurement === undefined) throw new Error(`there is no measurement ${id}`);
const quick = mode === '--quick';
const notes: string[] = [];
const bench: Bench = {
  quick,
  pick: (full, short) => (quick ? short : full),
  scratch,
  note: (line) => void notes.push(`${id}: ${line}`),
};
try {
  const rows = await measurement.run(bench);
  process.stdout.write(`${JSON.stringify({ rows: rows.map((row) => ({ id, ...row })), notes })}\n`);
} catch (error) {
  process.stderr.write(`\n${(error as Error).stack}\n`);
  process.exitCode = 1;
}
