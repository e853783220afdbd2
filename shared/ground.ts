/**
 * The ground a queue stands on: its folders are made 0700, and refused when they are not safe to
 * stand on. A database that arrived inside a repository, or that another account could have
 * written, must never be executed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { LanewayError } from './errors.ts';
import { type Env, enclosingTree, type Machine, type StatePaths, thisMachine, userHome } from './paths.ts';

/**
 * Refuses unsafe ground without making anything: a state home inside a work tree or workspace, owned by
 * another account, or writable by everybody. Cheap enough for every command.
 * @throws REFUSED
 */
export function checkGround(paths: StatePaths, workspace: string, env: Env, machine: Machine = thisMachine()): void {
  const tree = enclosingTree(paths.home, workspace, userHome(env, machine));
  if (tree !== null) {
    throw new LanewayError(
      'REFUSED',
      `the state folder ${paths.home} lies inside the work tree ${tree}`,
      'Point LANEWAY_HOME to a folder outside of any work tree: what a repository brings along is never executed',
    );
  }
  for (const folder of [paths.home, paths.workspaces, paths.folder]) checkFolder(folder, machine);
  const home = fs.statSync(paths.home, { throwIfNoEntry: false });
  if (home && machine.uid !== null && (home.mode & 0o002) !== 0) {
    throw new LanewayError(
      'REFUSED',
      `everybody may write to the state folder ${paths.home}`,
      `run: chmod 700 ${paths.home}`,
    );
  }
}

/**
 * {@link checkGround}, then makes the state folders that are missing, 0700.
 * @throws REFUSED for unsafe ground; ENVIRONMENT when a folder cannot be made.
 */
export function prepareGround(paths: StatePaths, workspace: string, env: Env, machine: Machine = thisMachine()): void {
  checkGround(paths, workspace, env, machine);
  attempt(paths.home, () => makeFolder(paths.home));
  for (const folder of [paths.workspaces, paths.folder]) ownFolder(folder, machine);
}

/**
 * Makes the folder of the socket, 0700 and ours: whoever may write there could answer in the server's place.
 * @throws REFUSED when another account owns it or it is no folder; ENVIRONMENT when it cannot be made.
 */
export function prepareSocketFolder(paths: StatePaths, machine: Machine = thisMachine()): void {
  if (paths.socketFolder === null) return;
  const folder = paths.socketFolder;
  attempt(folder, () => makeFolder(path.dirname(folder)));
  checkFolder(folder, machine, 'Set LANEWAY_RUNTIME to a folder of your own');
  ownFolder(folder, machine);
}

function ownFolder(folder: string, machine: Machine): void {
  attempt(folder, () => makeFolder(folder));
  if (machine.uid === null || (fs.statSync(folder).mode & 0o777) === 0o700) return;
  attempt(folder, () => fs.chmodSync(folder, 0o700));
}

/**
 * A folder and those above it, 0700. Not Node's `recursive`, which tries for ever where a file system says ENOENT
 * although the folder above is there, as /proc does.
 */
function makeFolder(folder: string): void {
  const above = path.dirname(folder);
  if (above !== folder && !fs.existsSync(above)) makeFolder(above);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // There already, perhaps since a moment ago; or a root, of which each system says something else.
    if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

function checkFolder(folder: string, machine: Machine, hint: string | null = null): void {
  const found = attempt(folder, () => fs.lstatSync(folder, { throwIfNoEntry: false }));
  if (found === undefined) return;
  if (!found.isDirectory()) throw new LanewayError('REFUSED', `${folder} is no folder`, hint ?? `move ${folder} away`);
  if (machine.uid === null || found.uid === machine.uid) return;
  throw new LanewayError(
    'REFUSED',
    `${folder} belongs to another user (uid ${found.uid}; yours is ${machine.uid})`,
    hint ?? "use an account's own state folder, or point LANEWAY_HOME to one of yours",
  );
}

function attempt<T>(folder: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new LanewayError(
      'ENVIRONMENT',
      `the folder ${folder} cannot be made ready (${code})`,
      'Check its permissions and the free space, or point LANEWAY_HOME elsewhere',
      { cause: error },
    );
  }
}
