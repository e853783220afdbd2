/** Processes seen from outside: how long one takes, what one holds and spends. */
import { spawn, type SpawnOptions } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * Runs a program to its end; gives the milliseconds.
 * @throws Error when it does not exit with 0, with the end of what it complained of.
 */
export function timeCommand(argv: readonly string[], options: SpawnOptions = {}): Promise<number> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...options });
    let complaint = '';
    child.stderr?.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-500)));
    child.once('error', reject);
    child.once('exit', (code) => {
      const took = performance.now() - began;
      if (code === 0) resolve(took);
      else reject(new Error(`${argv.join(' ')} exited ${code}: ${complaint}`));
    });
  });
}

/**
 * Runs a script with this Node; gives what its last line says in JSON.
 * @throws Error when it does not exit with 0.
 */
export function askScript(script: string, args: readonly string[], env = process.env): Promise<unknown> {
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out.trimEnd().split('\n').at(-1) ?? ''));
      else reject(new Error(`${path.basename(script)} ended with ${code}`));
    });
  });
}

/** Milliseconds of processor time a process has used so far, all threads; null where /proc does not tell. */
export function cpuMs(pid: number): number | null {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    const nanoseconds = tasks.map((task) =>
      Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
    );
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return null;
  }
}

/** MiB of memory a process holds; null where /proc does not tell. */
export function residentMiB(pid: number): number | null {
  try {
    const kib = /^VmRSS:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) / 1024;
  } catch {
    return null;
  }
}
