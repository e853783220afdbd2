/**
 * The last resort against a server that does not answer any more: stopped, or lost in something. It is ended only
 * when all says that it is this queue's server: it holds the instance lock, it is the process that was named beside
 * the database, and the one with the start time that it registered with. Its jobs are reaped by the next worker.
 */
import { LanewayError } from '../../shared/errors.ts';
import { type Env, statePaths } from '../../shared/paths.ts';
import { findServer, isLocked } from './findServer.ts';
import { createProcesses } from '../run/processes.ts';
import { readHost } from '../run/host.ts';
import { runTool } from '../run/tool.ts';
import { removeServerFile } from './serverFile.ts';
import type { Clock } from '../store/api.ts';
import { openStore } from '../store/open.ts';
import * as queries from '../store/queries/index.ts';

/** Milliseconds until a killed process has let go of its lock. */
const GONE_MS = 10_000;
const LOOK_MS = 20;

/**
 * Kills the queue's server and waits until it is gone. Gives its pid; null when none runs.
 * @throws ENVIRONMENT when the process cannot be told for sure, or does not end
 */
export async function killServer(options: {
  workspace: string;
  env: Env;
  clock: Clock;
}): Promise<{ pid: number } | null> {
  const { workspace, env, clock } = options;
  const paths = statePaths(workspace, env);
  const found = await findServer(paths);
  if (found === null) {
    if (await isLocked(paths)) throw unsure('it names no process beside its database');
    return null;
  }
  const { pid } = found;
  const started = await registeredStart(pid, paths.folder, clock);
  const running = await createProcesses(process.platform, runTool).find(pid);
  if (started === null || running?.startTime !== started)
    throw unsure(`it cannot be told whether process ${pid}, which it named as its own, is it`);
  process.kill(pid, 'SIGKILL');
  const end = clock.ticks() + GONE_MS;
  while (await isLocked(paths)) {
    if (clock.ticks() > end) throw unsure(`process ${pid} was killed and still holds its lock`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  removeServerFile(paths, pid);
  return { pid };
}

/** The start time with which a worker of this pid registered on this boot of this machine. */
async function registeredStart(pid: number, folder: string, clock: Clock): Promise<string | null> {
  const here = await readHost(process.platform, runTool);
  const store = await openStore({ folder, clock, mustExist: true });
  try {
    const own = store
      .read((reader) => queries.registrations(reader))
      .filter(
        (worker) =>
          worker.pid === pid &&
          worker.host === here.host &&
          worker.bootId === here.bootId &&
          worker.pidNamespace === here.pidNamespace,
      );
    return own.at(-1)?.startTime ?? null;
  } finally {
    await store.close();
  }
}

function unsure(why: string): LanewayError {
  return new LanewayError(
    'ENVIRONMENT',
    `The server was not ended: ${why}`,
    'See "lane doctor" and "lane server logs".',
  );
}
