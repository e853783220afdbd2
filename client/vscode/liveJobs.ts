/**
 * Whether a folder has jobs that wait for a server, asked without starting one: a folder that
 * never had a queue costs one look at the file system, another one a short `lane status
 * --direct`. SQLite is never loaded into the extension host.
 */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { promisify } from 'node:util';
import { statePaths } from '../../shared/paths.ts';
import type { Status } from '../../shared/job.ts';
import { bundles, type Runtime, runtimeEnv } from './runtime.ts';

const ASK_MS = 20_000;

/** True when jobs are blocked, queued or running in the folder's queue. */
export async function hasLiveJobs(
  root: string,
  extensionPath: string,
  runtime: Runtime,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  // After activation: a process costs more than all of activation's own work.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  if (!fs.existsSync(statePaths(root, env).database)) return false;
  const { stdout } = await promisify(execFile)(
    runtime.execPath,
    [bundles(extensionPath).cli, '--workspace', root, '--direct', '--json', 'status'],
    { env: runtimeEnv(runtime, env), timeout: ASK_MS, windowsHide: true },
  );
  return live(JSON.parse(stdout) as Pick<Status, 'counts'>);
}

function live({ counts }: Pick<Status, 'counts'>): boolean {
  return counts.blocked + counts.queued + counts.running > 0;
}
