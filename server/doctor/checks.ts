/** The single checks of doctor.ts, each a function of what it looks at. */
import fs from 'node:fs';
import path from 'node:path';
import type { Check } from '../../shared/job.ts';
import { OLDEST_NODE } from '../../shared/limits.ts';
import { SOCKET_PATH_BYTES, type StatePaths } from '../../shared/paths.ts';
import { damagedIn } from '../openQueue.ts';
import type { ServerFile } from '../presence/serverFile.ts';
import type { Store } from '../store/api.ts';
import { judgeFilesystem } from '../store/filesystem.ts';
import * as queries from '../store/queries/index.ts';
import { identityOf, readIdentity, sameFolder } from '../workspaces/identity.ts';

/** Bytes below which a full disk is near. */
const LOW_SPACE = 64 * 1024 * 1024;

export function ok(id: string, message: string): Check {
  return { id, status: 'ok', message, hint: null };
}

export function exists(file: string): boolean {
  return fs.existsSync(file);
}

export function node(version: string): Check {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return ok('node', `Node.js ${version}`);
  const message = `Node.js ${version} cannot load the queue's database; ${OLDEST_NODE} or newer can`;
  return { id: 'node', status: 'fail', message, hint: `Put Node.js ${OLDEST_NODE} or newer first on the PATH` };
}

/** Folders are 0700 and files 0600: argv and environments hold secrets. */
export function modes(paths: StatePaths, uid: number | null): Check {
  if (uid === null || !exists(paths.folder)) return ok('modes', 'nothing to look at');
  const files = [paths.database, `${paths.database}-wal`, `${paths.database}-shm`, paths.lock, paths.serverLog];
  const open = [paths.folder, paths.logs, ...files].filter((file) => {
    const found = fs.lstatSync(file, { throwIfNoEntry: false });
    return found !== undefined && (found.mode & 0o077) !== 0;
  });
  if (open.length === 0) return ok('modes', 'only you can read the queue');
  return {
    id: 'modes',
    status: 'warn',
    message: `others can reach ${open.join(', ')}`,
    hint: `Run: chmod -R go= ${paths.folder}`,
  };
}

export function filesystem(paths: StatePaths): Check {
  if (!exists(paths.home)) return ok('filesystem', 'nothing to look at');
  const judged = judgeFilesystem(fs.statfsSync(paths.home).type, process.platform);
  if (judged.kind === 'local') return ok('filesystem', 'the queue is on a local file system');
  return {
    id: 'filesystem',
    status: judged.kind === 'network' ? 'fail' : 'warn',
    message: `${paths.home} is on ${judged.name}, where locks may not hold`,
    hint: 'Point LANEWAY_HOME to a folder on a local disk',
  };
}

export function space(paths: StatePaths): Check {
  if (!exists(paths.home)) return ok('space', 'nothing to look at');
  const { bavail, bsize } = fs.statfsSync(paths.home);
  const mib = Math.floor((bavail * bsize) / 1_048_576);
  if (bavail * bsize >= LOW_SPACE) return ok('space', `${mib} MiB free`);
  return {
    id: 'space',
    status: 'warn',
    message: `only ${mib} MiB are free on the disk of ${paths.home}`,
    hint: 'Free some space, or prune: lane prune --older-than 7d --yes',
  };
}

export function identity(paths: StatePaths, workspace: string): Check {
  const recorded = readIdentity(paths);
  if (recorded === null || sameFolder(recorded, identityOf(workspace))) {
    return ok('identity', 'the folder is the one the queue was made for');
  }
  return {
    id: 'identity',
    status: 'warn',
    message: `${workspace} is another folder than the one its queue was made for`,
    hint: 'Unfinished jobs run here only after: lane workspaces adopt PATH',
  };
}

/** Databases that were set aside are the person's to look at, and easily forgotten. */
export function damaged(paths: StatePaths): Check {
  const found = damagedIn(paths.folder);
  if (found.length === 0) return ok('damaged', 'no damaged database was set aside');
  return {
    id: 'damaged',
    status: 'warn',
    message: `set aside because damaged: ${found.join(', ')}`,
    hint: 'Look at it with sqlite3, or delete it',
  };
}

export function server(paths: StatePaths, seen: { locked: boolean; answers: boolean; file: ServerFile | null }): Check {
  const pid = seen.file === null ? 'unknown' : `${seen.file.pid}`;
  const at = seen.file?.socket ?? paths.socket;
  if (seen.locked && seen.answers) {
    return ok('server', `a server runs (pid ${pid})${at === paths.socket ? '' : `, found at ${at}`}`);
  }
  if (!seen.locked && !seen.answers) {
    const stale = seen.file !== null && !isAlive(seen.file.pid);
    return ok('server', stale ? 'no server runs; the last one was killed' : 'no server runs');
  }
  if (seen.locked) {
    const message = `a server (pid ${pid}) holds the queue but does not answer on ${at}`;
    return { id: 'server', status: 'fail', message, hint: `Run: kill ${pid}` };
  }
  return {
    id: 'server',
    status: 'fail',
    message: `something answers on ${paths.socket} that does not hold this queue`,
    hint: `Remove ${paths.socket}, then run: lane server start`,
  };
}

export function socket(paths: StatePaths, uid: number | null): Check {
  if (paths.socketFolder === null || uid === null) return ok('socket', paths.socket);
  const limit = process.platform === 'linux' ? SOCKET_PATH_BYTES.linux : SOCKET_PATH_BYTES.other;
  const found = fs.lstatSync(paths.socketFolder, { throwIfNoEntry: false });
  if (found === undefined)
    return ok('socket', `${paths.socket} (${Buffer.byteLength(paths.socket)} of ${limit} bytes)`);
  if (!found.isDirectory() || found.uid !== uid) {
    const message = `${paths.socketFolder} is not a folder of yours`;
    return { id: 'socket', status: 'fail', message, hint: 'Set LANEWAY_RUNTIME to a folder of your own' };
  }
  if ((found.mode & 0o077) !== 0) {
    const message = `others can reach ${paths.socketFolder}`;
    return { id: 'socket', status: 'warn', message, hint: `Run: chmod 700 ${paths.socketFolder}` };
  }
  return ok('socket', `${paths.socket} (${Buffer.byteLength(paths.socket)} of ${limit} bytes)`);
}

/** With `deep`: log files that belong to no job. */
export function logs(paths: StatePaths, store: Store, deep: boolean): Check {
  if (!exists(paths.logs)) return ok('logs', 'no logs yet');
  let files = 0;
  const strays: string[] = [];
  for (const bucket of fs.readdirSync(paths.logs)) {
    const folder = path.join(paths.logs, bucket);
    if (!/^\d+$/.test(bucket) || !fs.statSync(folder).isDirectory()) {
      strays.push(folder);
      continue;
    }
    const names = fs.readdirSync(folder);
    files += names.length;
    if (deep) strays.push(...straysOf(folder, names, store));
  }
  if (strays.length === 0) return ok('logs', `${files} log files`);
  return {
    id: 'logs',
    status: 'warn',
    message: `${strays.length} of ${files} log files belong to no job, e.g. ${strays[0]}`,
    hint: 'Delete them by hand if you do not need them',
  };
}

function straysOf(folder: string, names: string[], store: Store): string[] {
  const ids = new Map<number, string[]>();
  for (const name of names) {
    const id = Number(/^(\d+)\.\d+(?:\.out|\.err)?\.log$/.exec(name)?.[1] ?? 0);
    ids.set(id, [...(ids.get(id) ?? []), path.join(folder, name)]);
  }
  const wanted = [...ids.keys()].filter((id) => id > 0);
  const known = new Set(store.read((reader) => queries.jobs(reader, wanted)).map(({ id }) => id));
  // What pruning still has to delete is no stray.
  const leaving = new Set(
    store.read((reader) => queries.filesToDelete(reader, 100_000)).map((file) => path.basename(file)),
  );
  return [...ids].flatMap(([id, files]) =>
    known.has(id) ? [] : files.filter((file) => !leaving.has(path.basename(file))),
  );
}

/** True while a process with this pid exists; it may be another one than was meant. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
