/**
 * A workspace of the bench's own with its state below one folder, the built server and `lane` run
 * against it. A place may be opened again by a later measurement: its state stays until the run ends.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../server/clock.ts';
import type { Store } from '../../server/store/api.ts';
import { openStore } from '../../server/store/open.ts';
import { connect } from '../../shared/connect.ts';
import type { Connection } from '../../shared/connection.ts';
import type { AddRequest, Caller } from '../../shared/job.ts';
import { statePaths, type StatePaths } from '../../shared/paths.ts';
import { Add, LanesSet, Pause, SettingsSet } from '../../shared/protocol.ts';
import type { ServerModule } from '../../shared/serverModule.ts';
import { dist } from './measurement.ts';

/** Milliseconds until a server counts as one that does not start or end. */
const DEADLINE_MS = 20_000;

export interface Place {
  workspace: string;
  env: Record<string, string>;
  paths: StatePaths;
}

export interface Served extends Place {
  pid: number;
  connection: Connection;
  /** Ends the server and waits until it is gone. */
  stop(): Promise<void>;
}

/** What jobs are run with: little, so that a figure is not about this machine's environment. */
export const CALLER: Caller = { env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' }, umask: 0o022 };

/** The place of this name; made when it is new. */
export function place(scratch: string, name: string): Place {
  const folder = path.join(scratch, name);
  const workspace = path.join(folder, 'project');
  for (const each of [path.join(workspace, '.git'), path.join(folder, 'run'), path.join(folder, 'home')]) {
    fs.mkdirSync(each, { recursive: true, mode: 0o700 });
  }
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: path.join(folder, 'home'),
    LANEWAY_HOME: path.join(folder, 'state'),
    LANEWAY_RUNTIME: path.join(folder, 'run'),
  };
  const real = fs.realpathSync.native(workspace);
  return { workspace: real, env, paths: statePaths(real, env) };
}

/** The queue of a place opened in this process. */
export async function openPlace({ paths }: Pick<Place, 'paths'>): Promise<Store> {
  return openStore({ folder: paths.folder, clock: systemClock });
}

/** The server's handlers on the queue of a place, in this process; with `execute` its jobs run here, too. */
export async function openDirect({ workspace, env }: Place, execute: boolean): Promise<Connection> {
  Object.assign(process.env, env);
  const server = createRequire(import.meta.url)(path.join(dist, 'server.js')) as ServerModule;
  return server.openDirect({ workspace, execute });
}

/** Starts the server of a place the way every client does, and connects to it. */
export async function serve(where: Place): Promise<Served> {
  const { workspace, env } = where;
  const serverBundle = path.join(dist, 'server.js');
  const connection = await connect({ workspace, env, client: 'test', version: 'bench', start: 'always', serverBundle });
  const { pid } = connection.welcome.server;
  if (pid === null) throw new Error('the server does not tell its pid');
  return { ...where, pid, connection, stop: () => end(pid, connection) };
}

/** {@link serve} for as long as `use` takes. */
export async function served<T>(where: Place, use: (served: Served) => Promise<T>): Promise<T> {
  const running = await serve(where);
  try {
    return await use(running);
  } finally {
    await running.stop();
  }
}

/** The second signal means: do not wait for running jobs. */
async function end(pid: number, connection: Connection): Promise<void> {
  process.kill(pid, 'SIGTERM');
  process.kill(pid, 'SIGTERM');
  try {
    await connection.closed;
    await until(() => !isAlive(pid), 'the server to end');
  } catch (error) {
    process.kill(pid, 'SIGKILL');
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Asks until it is so. @throws Error naming what was awaited. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  ms = DEADLINE_MS,
): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited ${ms} ms for ${what}`);
    await pause(2);
  }
}

/** A lane that runs `slots` jobs at once, in a server that does too. */
export async function setSlots({ connection }: Served, name: string, slots: number): Promise<void> {
  await connection.request(SettingsSet, { settings: { concurrency: slots } });
  await connection.request(LanesSet, { name, settings: { slots } });
}

export async function pauseLane({ connection }: Served, name: string): Promise<void> {
  await connection.request(LanesSet, { name, settings: {} });
  await connection.request(Pause, { lanes: [name] });
}

/** Adds `count` jobs alike, in batches. */
export async function addMany(
  connection: Connection,
  count: number,
  job: AddRequest,
  workspace: string,
): Promise<void> {
  for (let left = count; left > 0; left -= 10_000) {
    const jobs = Array.from({ length: Math.min(left, 10_000) }, () => ({ cwd: workspace, ...job }));
    await connection.request(Add, { jobs, caller: CALLER });
  }
}
