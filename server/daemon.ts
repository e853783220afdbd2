/**
 * The life of a server: safe ground → instance lock → store → worker → socket → … → the same way
 * back. It holds nothing that the database does not, so killing it at any instruction loses time
 * and nothing else; ending in order only saves the next one some clearing up.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LanewayError, toErrorData } from '../shared/errors.ts';
import { prepareGround } from '../shared/ground.ts';
import { type Env, findWorkspace, type StatePaths, statePaths } from '../shared/paths.ts';
import { answers } from './presence/answers.ts';
import { elect } from './instanceLock.ts';
import { openQueue } from './openQueue.ts';
import { openServerLog, type ServerLog } from './serverLog.ts';
import { serve } from './serve.ts';
import { clearStartError, writeStartError } from './presence/serverFile.ts';
import type { Clock } from './store/api.ts';
import { VERSION } from './version.ts';

export interface DaemonOptions {
  workspace: string;
  env: Env;
  clock: Clock;
  /** Signals that ask for an end: the first lets running jobs finish, the second stops them. */
  onEndSignal(listener: () => void): void;
  /** Errors that nobody caught. */
  onFault(listener: (error: unknown) => void): void;
}

/**
 * Runs the server of a workspace until it ends.
 * @returns when it has ended in order, or another server was there already.
 * @throws LanewayError when it could not begin; the server log's last line says the same.
 */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  const { env, clock } = options;
  const workspace = findWorkspace({ cwd: process.cwd(), env, explicit: options.workspace });
  const paths = statePaths(workspace, env);
  // Whatever this process makes is the owner's alone, files that SQLite makes included.
  process.umask(0o077);
  prepareGround(paths, workspace, env);
  // The folder from which it was started may go away, or be on a disk to be unmounted.
  process.chdir(paths.folder);
  const log = openServerLog(paths.serverLog, () => clock.now());
  options.onFault((error) => log.write(`a fault: ${error instanceof Error ? error.stack : String(error)}`));
  try {
    await holdingLock(paths, clock, async () => {
      log.write(`server ${VERSION} starts for ${workspace} (Node.js ${process.versions.node})`);
      clearStartError(paths);
      const queue = await openQueue({ workspace, env, clock, warn: (message) => log.write(message) });
      try {
        await serve({ ...options, workspace, queue, log: (message) => log.write(message) });
      } finally {
        await queue.store.close();
      }
      log.write('server ends');
    });
  } catch (error) {
    tellWhy(paths, log, error);
    throw error;
  } finally {
    log.close();
  }
}

async function holdingLock(paths: StatePaths, clock: Clock, act: () => Promise<void>): Promise<void> {
  const lock = await elect(paths, { answers, ticks: () => clock.ticks(), pause });
  if (lock === null) return;
  try {
    await act();
  } finally {
    lock.release();
  }
}

function tellWhy(paths: StatePaths, log: ServerLog, error: unknown): void {
  const data = toErrorData(error);
  if (!(error instanceof LanewayError) && error instanceof Error) log.write(error.stack ?? error.message);
  writeStartError(paths, data);
  log.write(data.hint === null ? data.message : `${data.message}; ${data.hint}`);
}
