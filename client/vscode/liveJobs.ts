/**
 * Whether a folder has jobs that wait for a server, asked without starting one: a folder that
 * never had a queue costs one look at the file system, another one a short `lane status
 * --direct`.
 */
import fs from 'node:fs';
import type { Status } from '../../shared/job.ts';
import { statePaths } from '../../shared/paths.ts';
import { askCli, type Cli } from './cli.ts';

/** True when jobs are blocked, queued or running in the folder's queue. */
export async function hasLiveJobs(root: string, cli: Cli): Promise<boolean> {
  // After activation: a process costs more than all of activation's own work.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  if (!fs.existsSync(statePaths(root, cli.env).database)) return false;
  return live((await askCli(cli, ['--workspace', root, '--direct', 'status'])) as Pick<Status, 'counts'>);
}

function live({ counts }: Pick<Status, 'counts'>): boolean {
  return counts.blocked + counts.queued + counts.running > 0;
}
