/** Opening a workspace's queue on safe ground, for whoever does it: server, `--direct`, `lane work`. */
import fs from 'node:fs';
import path from 'node:path';
import { LanewayError } from '../shared/errors.ts';
import { quoteArgv } from '../shared/shell.ts';
import { prepareGround } from '../shared/ground.ts';
import { type Env, type Machine, type StatePaths, statePaths, thisMachine } from '../shared/paths.ts';
import { readHost } from './run/host.ts';
import { judge } from './run/judge.ts';
import { parsePoints } from './run/points.ts';
import { createProcesses } from './run/processes.ts';
import { runTool } from './run/tool.ts';
import type { Clock, HostIdentity, ProcessIdentity, Store } from './store/api.ts';
import { openStore } from './store/open.ts';
import * as queries from './store/queries/index.ts';
import { identityOf, readIdentity, sameFolder, writeIdentity } from './workspaces/identity.ts';

export interface OpenQueueOptions {
  /** Real path. */
  workspace: string;
  env: Env;
  clock: Clock;
  machine?: Machine;
  warn: (message: string) => void;
  mustExist?: boolean;
}

export interface OpenQueue {
  paths: StatePaths;
  store: Store;
  /** Damaged databases that this opening set aside. */
  setAside: string[];
}

/**
 * Prepares the ground, opens the store, and makes sure that the folder is the one the queue was made for.
 * @throws REFUSED for unsafe ground or another folder with live jobs; what the store throws.
 */
export async function openQueue(options: OpenQueueOptions): Promise<OpenQueue> {
  const { workspace, env, clock, machine = thisMachine(), warn, mustExist = false } = options;
  const paths = statePaths(workspace, env, machine);
  prepareGround(paths, workspace, env, machine);
  const before = new Set(damagedIn(paths.folder));
  const store = await openStore({
    folder: paths.folder,
    clock,
    warn,
    mustExist,
    isGone,
    point: parsePoints(env['LANEWAY_TEST_POINTS']),
  });
  try {
    claimFolder(paths, store, workspace, warn);
  } catch (error) {
    await store.close();
    throw error;
  }
  return { paths, store, setAside: damagedIn(paths.folder).filter((file) => !before.has(file)) };
}

async function isGone(worker: HostIdentity & ProcessIdentity): Promise<boolean> {
  const here = await readHost(process.platform, runTool);
  const holder = await createProcesses(process.platform, runTool).find(worker.pid);
  return ['gone', 'other_boot'].includes(judge(worker, here, holder, 0, Number.POSITIVE_INFINITY));
}

/** A queue without live jobs goes over to the new folder: nothing of the old one would start in it. */
function claimFolder(paths: StatePaths, store: Store, workspace: string, warn: (message: string) => void): void {
  const now = identityOf(workspace);
  const recorded = readIdentity(paths);
  if (recorded !== null && sameFolder(recorded, now)) return;
  if (recorded !== null) {
    if (store.read((reader) => queries.anyLive(reader))) {
      const place = quoteArgv([workspace], process.platform);
      throw new LanewayError(
        'REFUSED',
        `${workspace} is another folder than the one its queue was made for, and that queue has unfinished jobs`,
        `run \`lane workspaces adopt ${place}\` to let them run here, \`lane workspaces move ${place} NEW\` if the project ` +
          `moved, or \`lane workspaces remove ${place}\` to drop them`,
      );
    }
    warn(`${workspace} is another folder than before; the queue goes over to it`);
  }
  writeIdentity(paths, now);
}

/** Databases that were set aside in a state folder because they were damaged. */
export function damagedIn(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  const names = fs.readdirSync(folder).filter((name) => /\.damaged-[\dT-]+\.db$/.test(name));
  return names.map((name) => path.join(folder, name));
}
