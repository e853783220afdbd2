/**
 * Checks of what a queue stands on. Each stands alone, so that they tell something even when the
 * database cannot be opened, or Node.js cannot load its driver; the store's own checks come last.
 */
import type { Check, Server } from '../../shared/job.ts';
import { type Env, statePaths, type StatePaths, thisMachine } from '../../shared/paths.ts';
import { toErrorData } from '../../shared/errors.ts';
import { checkGround } from '../../shared/ground.ts';
import { otherSocket } from '../../shared/serverSocket.ts';
import { answers } from '../presence/answers.ts';
import * as checks from './checks.ts';
import { isLocked } from '../presence/findServer.ts';
import { readServerFile } from '../presence/serverFile.ts';
import type { Clock, Store } from '../store/api.ts';
import { openStore } from '../store/open.ts';
import * as queries from '../store/queries/index.ts';

export interface DoctorOptions {
  workspace: string;
  env: Env;
  clock: Clock;
  deep: boolean;
}

/** For a process without an open queue. Changes nothing, and makes no queue where there is none. */
export async function doctor(options: DoctorOptions): Promise<{ ok: boolean; checks: Check[] }> {
  return report(async (add) => {
    const paths = await around(options, add);
    if (paths === null) return;
    await add('database', () => withStore(options, paths, add));
  });
}

/** For a process that has the queue open. `apart` checks the rows where that may take its time; default here. */
export async function runChecks(
  options: DoctorOptions & { store: Store; server: Server; apart?: () => Promise<Check[]> },
): Promise<{ ok: boolean; checks: Check[] }> {
  return report(async (add) => {
    // The server itself has no need to try its own lock.
    const paths = await around({ ...options, locked: options.server.pid === process.pid ? true : undefined }, add);
    if (paths === null) return;
    await add('database', () => checks.ok('database', `${paths.database}, schema ${options.store.schema}`));
    await ofStore(options.deep ? options.apart : undefined, options, options.store, paths, add);
  });
}

type Add = (id: string, check: () => Check | null | Promise<Check | null>) => Promise<void>;

/** Collects checks; one that throws has failed for that reason. */
async function report(run: (add: Add) => Promise<void>): Promise<{
  ok: boolean;
  checks: Check[];
}> {
  const found: Check[] = [];
  const add: Add = async (id, check) => {
    try {
      const result = await check();
      if (result !== null) found.push(result);
    } catch (error) {
      const { message, hint } = toErrorData(error);
      found.push({ id, status: 'fail', message, hint });
    }
  };
  await run(add);
  return { ok: found.every(({ status }) => status !== 'fail'), checks: found };
}

async function around(options: DoctorOptions & { locked?: boolean }, add: Add): Promise<StatePaths | null> {
  const { workspace, env } = options;
  await add('node', () => checks.node(process.versions.node));
  let paths: StatePaths | null = null;
  await add('paths', () => {
    paths = statePaths(workspace, env);
    return checks.ok('paths', `the queue of ${workspace} is in ${paths.folder}`);
  });
  const found = paths as StatePaths | null;
  if (found === null) return null;
  await add('ground', () => {
    checkGround(found, workspace, env);
    return checks.ok('ground', `${found.home} is a safe place`);
  });
  const { uid } = thisMachine();
  await add('modes', () => checks.modes(found, uid));
  await add('filesystem', () => checks.filesystem(found));
  await add('space', () => checks.space(found));
  await add('identity', () => checks.identity(found, workspace));
  await add('damaged', () => checks.damaged(found));
  await add('server', async () =>
    checks.server(found, {
      locked: options.locked ?? (await isLocked(found)),
      answers: (await answers(found.socket)) || (await answers(otherSocket(found) ?? found.socket)),
      file: readServerFile(found),
    }),
  );
  await add('socket', () => checks.socket(found, uid));
  return found;
}

async function withStore(options: DoctorOptions, paths: StatePaths, add: Add): Promise<Check> {
  if (!checks.exists(paths.database)) return checks.ok('database', 'there is no queue here yet');
  const warnings: string[] = [];
  const store = await openStore({
    folder: paths.folder,
    clock: options.clock,
    mustExist: true,
    warn: (message) => warnings.push(message),
  });
  try {
    await ofStore(undefined, options, store, paths, add);
    if (warnings.length > 0) return { id: 'database', status: 'warn', message: warnings.join('; '), hint: null };
    return checks.ok('database', `${paths.database}, schema ${store.schema}`);
  } finally {
    await store.close();
  }
}

async function ofStore(
  apart: (() => Promise<Check[]>) | undefined,
  { deep }: DoctorOptions,
  store: Store,
  paths: StatePaths,
  add: Add,
): Promise<void> {
  await add('tables', async () => {
    const found = (await apart?.()) ?? storeChecks(store, paths, deep);
    for (const check of found) await add(check.id, () => check);
    return null;
  });
}

/** Of the rows, and of the log files that they name. */
export function storeChecks(store: Store, paths: StatePaths, deep: boolean): Check[] {
  return [...store.read((reader) => queries.check(reader, deep)), checks.logs(paths, store, deep)];
}
