/** The yardstick of every figure about starting processes: `bench/programs/spawner.mjs` as a child. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { programs } from './measurement.ts';

export interface SpawnTask {
  how: 'raw' | 'execa';
  jobs: number;
  atOnce: number;
  /** For the output files; made, and left to the end of the run. */
  folder: string;
}

export interface Spawner {
  /** Milliseconds for all of them. */
  measure(task: SpawnTask): Promise<number>;
  stop(): void;
}

/** A small process that starts processes; small, because starting costs more the larger the starter is. */
export function createSpawner(): Spawner {
  const child = spawn(process.execPath, [path.join(programs, 'spawner.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async measure(task) {
      child.stdin.write(`${JSON.stringify(task)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error('the spawner ended');
      return Number(value);
    },
    stop: () => child.stdin.end(),
  };
}
