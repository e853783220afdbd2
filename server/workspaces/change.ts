/** Moving, adopting, releasing and removing queues. Each holds the instance lock meanwhile, so that no server starts on them. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../shared/connect.ts';
import { LanewayError } from '../../shared/errors.ts';
import type { Workspace } from '../../shared/job.ts';
import { type Env, findWorkspace, type StatePaths, statePaths } from '../../shared/paths.ts';
import { ServerStop } from '../../shared/protocol.ts';
import { quoteArgv } from '../../shared/shell.ts';
import { isLocked } from '../presence/findServer.ts';
import { readHost } from '../run/host.ts';
import { runTool } from '../run/tool.ts';
import type { Clock } from '../store/api.ts';
import { type FileLock, tryFileLock } from '../store/fileLock.ts';
import { openStore } from '../store/open.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';
import { VERSION } from '../version.ts';
import { identityOf, writeIdentity } from './identity.ts';
import { describe, entries, type Entry } from './registry.ts';

/** Milliseconds a server gets to end. */
const SERVER_END_MS = 15_000;

export interface ChangeParts {
  env: Env;
  clock: Clock;
}

/**
 * A queue at `to` that never had a job gives way: looking at the renamed folder is enough to have made one.
 * @throws NOT_FOUND; CONFLICT while something runs, or when `to` has jobs of its own; INVALID_INPUT for a bad `to`.
 */
export async function moveWorkspace({
  from,
  to,
  env,
  clock,
}: ChangeParts & { from: string; to: string }): Promise<Workspace> {
  const entry = find(from, env);
  const workspace = findWorkspace({ cwd: process.cwd(), env, explicit: to });
  const paths = statePaths(workspace, env);
  const there = { identity: identityOf(workspace), paths };
  if (paths.folder === entry.paths.folder) return describe(entry, clock);
  const move = (): Promise<void> =>
    alone(entry, { clock, env }, async (release) => {
      // Windows renames no folder with open files in it.
      if (process.platform === 'win32') release();
      discard(paths);
      fs.renameSync(entry.paths.folder, paths.folder);
      writeIdentity(paths, there.identity);
    });
  if (fs.existsSync(paths.database)) {
    await refuseJobs(there, clock);
    await alone(there, { clock, env }, async (release) => {
      await refuseJobs(there, clock);
      if (process.platform === 'win32') release();
      await move();
    });
  } else await move();
  return describe(there, clock);
}

async function refuseJobs({ identity, paths }: Entry, clock: Clock): Promise<void> {
  const { counts } = await describe({ identity, paths }, clock);
  if (counts !== null && Object.values(counts).every((count) => count === 0)) return;
  throw new LanewayError(
    'CONFLICT',
    `${identity.path} has a queue of its own already`,
    `Remove that first: lane workspaces remove ${quoteArgv([identity.path], process.platform)}`,
  );
}

/** Takes a state folder away, under another name first: a removal that is interrupted leaves no half of a queue. */
function discard({ folder, workspaces }: StatePaths): void {
  if (!fs.existsSync(folder)) return;
  const leaving = path.join(workspaces, `removed-${path.basename(folder)}-${process.pid}`);
  fs.renameSync(folder, leaving);
  fs.rmSync(leaving, { recursive: true, force: true, maxRetries: 5 });
}

/** @throws NOT_FOUND; CONFLICT while something runs. */
export async function removeWorkspace({
  path: target,
  env,
  clock,
}: ChangeParts & { path: string }): Promise<Workspace> {
  const entry = find(target, env);
  const before = await describe(entry, clock);
  await alone(entry, { clock, env }, async (release) => {
    if (process.platform === 'win32') release();
    discard(entry.paths);
    fs.rmSync(entry.paths.socket, { force: true });
  });
  return { ...before, serverPid: null };
}

/** @throws NOT_FOUND; INVALID_INPUT when there is no such folder. */
export async function adoptWorkspace({ path: target, env, clock }: ChangeParts & { path: string }): Promise<Workspace> {
  const workspace = findWorkspace({ cwd: process.cwd(), env, explicit: target });
  const entry = find(workspace, env);
  writeIdentity(entry.paths, identityOf(workspace));
  return describe({ ...entry, identity: identityOf(workspace) }, clock);
}

/**
 * What other machines or containers ran for this queue is gone for good: its jobs may be taken up here.
 * @throws NOT_FOUND; CONFLICT while a server has the queue.
 */
export async function releaseWorkspace({
  path: target,
  env,
  clock,
}: ChangeParts & { path: string }): Promise<Workspace> {
  const entry = find(target, env);
  const { paths, identity } = entry;
  const lock = await tryFileLock(paths.lock);
  if (lock === null) {
    throw new LanewayError('CONFLICT', `a server works on ${identity.path}`, 'Stop it first: lane server stop');
  }
  try {
    const store = await openStore({ folder: paths.folder, clock, mustExist: true });
    try {
      const here = await readHost(process.platform, runTool);
      await store.write((tx) => transitions.release(tx, here));
    } finally {
      await store.close();
    }
  } finally {
    lock.release();
  }
  return describe(entry, clock);
}

function find(target: string, env: Env): Entry {
  const wanted = new Set([path.resolve(target), realOrNull(target)]);
  const entry = entries(env).find(({ identity }) => wanted.has(identity.path));
  if (entry !== undefined) return entry;
  throw new LanewayError('NOT_FOUND', `there is no queue of ${path.resolve(target)}`, 'See: lane workspaces');
}

function realOrNull(target: string): string | null {
  try {
    return fs.realpathSync.native(target);
  } catch {
    return null;
  }
}

/** Runs `act` while nobody else has the queue: its server ended, nothing running, the instance lock held. */
async function alone(
  entry: Entry,
  { clock, env }: ChangeParts,
  act: (release: () => void) => Promise<void>,
): Promise<void> {
  await refuseRunning(entry, clock);
  if (await isLocked(entry.paths)) await endServer(entry, env);
  const lock = await lockOf(entry, clock);
  try {
    await refuseRunning(entry, clock);
    await act(() => lock.release());
  } finally {
    lock.release();
  }
}

async function refuseRunning({ paths, identity }: Entry, clock: Clock): Promise<void> {
  if (!fs.existsSync(paths.database)) return;
  const store = await openStore({ folder: paths.folder, clock, mustExist: true });
  try {
    const { running } = store.read((reader) => queries.counts(reader)).counts;
    if (running === 0) return;
    throw new LanewayError(
      'CONFLICT',
      `${running} job(s) of ${identity.path} are running`,
      'Wait for them or cancel them first',
    );
  } finally {
    await store.close();
  }
}

async function endServer({ identity }: Entry, env: Env): Promise<void> {
  const options = { workspace: identity.path, env, client: 'cli', version: VERSION } as const;
  const connection = await connect({ ...options, start: 'never', serverBundle: '' });
  await connection.request(ServerStop, { force: false });
  await connection.closed;
}

async function lockOf({ paths, identity }: Entry, clock: Clock): Promise<FileLock> {
  const end = clock.ticks() + SERVER_END_MS;
  for (;;) {
    const lock = await tryFileLock(paths.lock);
    if (lock !== null) return lock;
    if (clock.ticks() > end) {
      throw new LanewayError('CONFLICT', `a server still works on ${identity.path}`, 'See: lane server status');
    }
    await pause(20);
  }
}
