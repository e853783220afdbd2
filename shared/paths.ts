/**
 * Which folder is meant, and where its state lives. Real, native paths name a workspace, so
 * symlinks meet in one queue; nothing is ever written inside it. Deciding is pure over an
 * injected environment and platform; only the file system's answers are read.
 *
 *     <home>/workspaces/<hash16>/   queue.db lock.db workspace.json server.json server.log logs/
 *     <runtime>/laneway-<uid>/<hash16>.sock
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { LanewayError } from './errors.ts';
import { sha256Hex } from './sha256.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** What of the machine these decisions rest on; injected by tests. */
export interface Machine {
  platform: NodeJS.Platform;
  /** Null where the platform has no user ids. */
  uid: number | null;
  /** Of the account, when the environment names none. */
  homedir: string;
  tmpdir: string;
}

export interface StatePaths {
  /** Real path of the state home, `$LANEWAY_HOME` or the platform's. */
  home: string;
  /** `<home>/workspaces`. */
  workspaces: string;
  /** This workspace's folder; cwd of its server. */
  folder: string;
  database: string;
  /** The instance lock: a SQLite file, only ever opened as one. */
  lock: string;
  serverLog: string;
  /** Folder of attempt logs. */
  logs: string;
  /** Unix socket, or named pipe on Windows. */
  socket: string;
  /** Folder of the socket; null on Windows. */
  socketFolder: string | null;
  /** Whose state this is: path and identity of the folder. */
  workspaceFile: string;
  /** Written by the running server: pid, socket, version. A hint for clients with another runtime folder. */
  serverFile: string;
}

/** Bytes a socket path may have: Node cuts a longer one silently, and two cut paths can meet. */
export const SOCKET_PATH_BYTES = { linux: 107, other: 102 } as const;

/** The machine this process runs on. */
export function thisMachine(): Machine {
  return { platform: process.platform, uid: process.getuid?.() ?? null, homedir: os.homedir(), tmpdir: os.tmpdir() };
}

/** The home folder of the person, as the environment has it. */
export function userHome(env: Env, machine: Machine = thisMachine()): string {
  const named = machine.platform === 'win32' ? env['USERPROFILE'] : env['HOME'];
  return real(named !== undefined && path.isAbsolute(named) ? named : machine.homedir);
}

/**
 * The state home: `$LANEWAY_HOME`, else the platform's state folder for `laneway`.
 * @throws INVALID_INPUT when `$LANEWAY_HOME` is not absolute.
 */
export function stateHome(env: Env, machine: Machine = thisMachine()): string {
  const explicit = env['LANEWAY_HOME'];
  if (explicit) return real(absolute(explicit, 'LANEWAY_HOME'));
  const home = userHome(env, machine);
  if (machine.platform === 'darwin') return real(path.join(home, 'Library', 'Application Support', 'laneway'));
  if (machine.platform === 'win32') {
    return real(path.join(env['LOCALAPPDATA'] || path.join(home, 'AppData', 'Local'), 'laneway'));
  }
  const xdg = env['XDG_STATE_HOME'];
  return real(path.join(xdg && path.isAbsolute(xdg) ? xdg : path.join(home, '.local', 'state'), 'laneway'));
}

/** First 16 hex digits of the SHA-256 of a workspace's real path: the name of its state folder. */
function workspaceHash(workspace: string): string {
  return sha16(workspace);
}

/**
 * Everything that belongs to a workspace, by its real path. Touches nothing.
 * @throws INVALID_INPUT for a relative `$LANEWAY_HOME`/`$LANEWAY_RUNTIME` or a socket path too long for the platform.
 */
export function statePaths(workspace: string, env: Env, machine: Machine = thisMachine()): StatePaths {
  const home = stateHome(env, machine);
  const hash = workspaceHash(workspace);
  const workspaces = path.join(home, 'workspaces');
  const folder = path.join(workspaces, hash);
  return {
    home,
    workspaces,
    folder,
    database: path.join(folder, 'queue.db'),
    lock: path.join(folder, 'lock.db'),
    serverLog: path.join(folder, 'server.log'),
    logs: path.join(folder, 'logs'),
    workspaceFile: path.join(folder, 'workspace.json'),
    serverFile: path.join(folder, 'server.json'),
    ...socketPaths(sha16(`${home}\0${hash}`), env, machine),
  };
}

function socketPaths(name: string, env: Env, machine: Machine): { socket: string; socketFolder: string | null } {
  if (machine.platform === 'win32') return { socket: `\\\\.\\pipe\\laneway-${name}`, socketFolder: null };
  const limit = machine.platform === 'linux' ? SOCKET_PATH_BYTES.linux : SOCKET_PATH_BYTES.other;
  const explicit = env['LANEWAY_RUNTIME'];
  const xdg = env['XDG_RUNTIME_DIR'];
  const candidates = explicit
    ? [absolute(explicit, 'LANEWAY_RUNTIME')]
    : [...(xdg && path.isAbsolute(xdg) && fs.existsSync(xdg) ? [xdg] : []), machine.tmpdir, '/tmp'];
  for (const runtime of candidates) {
    const socketFolder = path.join(runtime, `laneway-${machine.uid ?? 0}`);
    const socket = path.join(socketFolder, `${name}.sock`);
    if (Buffer.byteLength(socket) <= limit) return { socket, socketFolder };
  }
  throw new LanewayError(
    'INVALID_INPUT',
    `the socket's path below ${candidates[0]} would be longer than the ${limit} bytes this platform allows`,
    'Set LANEWAY_RUNTIME to a shorter folder',
  );
}

/**
 * The workspace a command means: `explicit`, else `$LANEWAY_WORKSPACE`, else the nearest ancestor of `cwd`
 * that has a queue, a `.git` or a `.vscode`, else `cwd`. Returns its real path.
 * @throws INVALID_INPUT when a named folder does not exist; REFUSED when only the home folder or the root is left.
 */
export function findWorkspace(
  options: { cwd: string; env: Env; explicit?: string | null },
  machine: Machine = thisMachine(),
): string {
  const { cwd, env } = options;
  if (options.explicit) return existingFolder(path.resolve(cwd, options.explicit), '--workspace');
  const named = env['LANEWAY_WORKSPACE'];
  if (named) return existingFolder(path.resolve(cwd, named), 'LANEWAY_WORKSPACE');
  const start = existingFolder(cwd, 'the current directory');
  const home = userHome(env, machine);
  const workspaces = path.join(stateHome(env, machine), 'workspaces');
  for (const folder of ancestors(start)) {
    if (folder === home || isRoot(folder)) continue;
    if (isWorkspaceRoot(folder) || fs.existsSync(path.join(workspaces, workspaceHash(folder), 'queue.db'))) {
      return folder;
    }
  }
  if (start !== home && !isRoot(start)) return start;
  throw new LanewayError(
    'REFUSED',
    `${start} is ${start === home ? 'your home folder' : 'the root of the file system'}, which is never taken as the workspace by itself`,
    'Go into a project, or name the folder with --workspace DIR',
  );
}

/**
 * The work tree or workspace a path lies in, by its ancestors; null when in none. The home folder
 * and the root do not count: people keep those under version control, and state has to live somewhere.
 */
export function enclosingTree(target: string, workspace: string | null, home: string): string | null {
  for (const folder of ancestors(target)) {
    if (folder === home || isRoot(folder)) continue;
    if (folder === workspace || VERSION_CONTROL.some((name) => fs.existsSync(path.join(folder, name)))) return folder;
  }
  return null;
}

const VERSION_CONTROL = ['.git', '.hg', '.jj', '.svn'];

function isWorkspaceRoot(folder: string): boolean {
  return fs.existsSync(path.join(folder, '.git')) || isFolder(path.join(folder, '.vscode'));
}

function isFolder(target: string): boolean {
  try {
    return fs.statSync(target).isDirectory();
  } catch {
    // Not there, or not to be seen: no reason to stop looking elsewhere.
    return false;
  }
}

function existingFolder(target: string, source: string): string {
  let resolved: string;
  try {
    resolved = fs.realpathSync.native(target);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw new LanewayError('INVALID_INPUT', `${source}: ${target} cannot be used as a workspace (${code})`, null);
  }
  if (isFolder(resolved)) return resolved;
  throw new LanewayError('INVALID_INPUT', `${source}: ${target} is no folder`, 'Name the folder of a project');
}

/** From a folder up to the root, itself included. */
function* ancestors(start: string): Generator<string> {
  let folder = start;
  for (;;) {
    yield folder;
    const parent = path.dirname(folder);
    if (parent === folder) return;
    folder = parent;
  }
}

function isRoot(folder: string): boolean {
  return path.dirname(folder) === folder;
}

/** The real path of what exists of a path, with the rest appended: two spellings of one folder must meet. */
function real(target: string): string {
  let rest = '';
  for (const folder of ancestors(path.resolve(target))) {
    try {
      return path.join(fs.realpathSync.native(folder), rest);
    } catch {
      rest = path.join(path.basename(folder), rest);
    }
  }
  return path.resolve(target);
}

function absolute(value: string, name: string): string {
  if (path.isAbsolute(value)) return value;
  throw new LanewayError(
    'INVALID_INPUT',
    `${name} is "${value}", which is not an absolute path`,
    `Give ${name} a full path`,
  );
}

function sha16(text: string): string {
  return sha256Hex(text).slice(0, 16);
}
