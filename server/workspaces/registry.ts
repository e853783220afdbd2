/** The queues under the state home, found by what each state folder says of itself. No server is started. */
import fs from 'node:fs';
import path from 'node:path';
import type { Counts, Workspace } from '../../shared/job.ts';
import { type Env, stateHome, type StatePaths, statePaths } from '../../shared/paths.ts';
import { findServer } from '../presence/findServer.ts';
import type { Clock } from '../store/api.ts';
import { openStore } from '../store/open.ts';
import * as queries from '../store/queries/index.ts';
import { identityOf, type Identity, readIdentity, sameFolder } from './identity.ts';

export interface Entry {
  identity: Identity;
  paths: StatePaths;
}

export async function listWorkspaces({ env, clock }: { env: Env; clock: Clock }): Promise<Workspace[]> {
  const found: Workspace[] = [];
  for (const entry of entries(env)) found.push(await describe(entry, clock));
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Every state folder whose owner is known. */
export function entries(env: Env): Entry[] {
  const folder = path.join(stateHome(env), 'workspaces');
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder).flatMap((name) => {
    const identity = readIdentity({ workspaceFile: path.join(folder, name, 'workspace.json') });
    if (identity === null) return [];
    const paths = statePaths(identity.path, env);
    // A folder under another name than its path's is a leftover that no command would find.
    return path.basename(paths.folder) === name ? [{ identity, paths }] : [];
  });
}

export async function describe({ identity, paths }: Entry, clock: Clock): Promise<Workspace> {
  return {
    path: identity.path,
    state: isPresent(identity) ? 'present' : 'missing',
    database: paths.database,
    counts: await countsOf(paths, clock),
    serverPid: (await findServer(paths))?.pid ?? null,
  };
}

function isPresent(identity: Identity): boolean {
  try {
    return sameFolder(identity, identityOf(identity.path));
  } catch {
    return false;
  }
}

/** Null when the database cannot be read here: newer, damaged, locked. */
async function countsOf(paths: StatePaths, clock: Clock): Promise<Counts | null> {
  try {
    const store = await openStore({ folder: paths.folder, clock, mustExist: true });
    try {
      return store.read((reader) => queries.counts(reader)).counts;
    } finally {
      await store.close();
    }
  } catch {
    return null;
  }
}
