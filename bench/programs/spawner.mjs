/**
 * How fast a small Node process starts `true` with its output going to files. Reads
 * `{how, jobs, atOnce, folder}` a line from stdin, answers with the milliseconds it took. `how` is
 * `raw` (child_process.spawn) or `execa`, with numeric descriptors either way.
 */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const ENV = { PATH: process.env.PATH };

/** Resolves with the exit; `descriptor` is the caller's to close. */
async function starter(how) {
  if (how === 'raw') {
    return (descriptor) =>
      new Promise((resolve, reject) => {
        const child = spawn('true', [], { stdio: ['ignore', descriptor, descriptor], env: ENV, detached: true });
        child.once('error', reject);
        child.once('exit', resolve);
      });
  }
  const { execa } = await import('execa');
  const options = { stdin: 'ignore', env: ENV, extendEnv: false, detached: true, cleanup: false, buffer: false };
  return (descriptor) => execa('true', [], { ...options, stdout: descriptor, stderr: descriptor });
}

let samples = 0;

async function measure({ how, jobs, atOnce, folder: above }) {
  const start = await starter(how);
  // Never removed meanwhile: creating files is slow for a while where many were deleted.
  const folder = path.join(above, String(samples++));
  mkdirSync(folder, { recursive: true });
  const began = performance.now();
  let next = 0;
  const one = async () => {
    while (next < jobs) {
      const descriptor = openSync(path.join(folder, `${next++}.log`), 'a', 0o600);
      const ended = start(descriptor);
      closeSync(descriptor);
      await ended;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return performance.now() - began;
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await measure(JSON.parse(line))}\n`);
}
