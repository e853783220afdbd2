/** A server as `lane` starts it. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { dist, type Sandbox } from '../helpers/sandbox.ts';

/** Nobody watches it. Resolves with its exit status and what it said. */
export function startUnwatched(
  box: Sandbox,
  workspace = box.workspace,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [path.join(dist, 'server.js'), '--workspace', workspace], {
    env: box.env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}
