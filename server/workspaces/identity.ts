/**
 * Which folder a queue belongs to. A path alone is not enough: after a project was deleted and
 * another one put in its place, the old one's jobs must not start in the new one by themselves.
 */
import fs from 'node:fs';
import type { StatePaths } from '../../shared/paths.ts';
import { replaceFile } from '../replaceFile.ts';

export interface Identity {
  /** Real path when it was recorded. */
  path: string;
  dev: string;
  ino: string;
  /** Nanoseconds; "0" where the file system knows none. */
  birthtime: string;
}

export function identityOf(folder: string): Identity {
  const { dev, ino, birthtimeNs } = fs.statSync(folder, { bigint: true });
  return { path: folder, dev: `${dev}`, ino: `${ino}`, birthtime: `${birthtimeNs}` };
}

/** Recorded identity of a state folder; null when there is none that can be read. */
export function readIdentity(paths: Pick<StatePaths, 'workspaceFile'>): Identity | null {
  try {
    const found = JSON.parse(fs.readFileSync(paths.workspaceFile, 'utf8')) as Partial<Identity>;
    const { path, dev, ino, birthtime } = found;
    if ([path, dev, ino, birthtime].some((part) => typeof part !== 'string')) return null;
    return found as Identity;
  } catch {
    return null;
  }
}

export function writeIdentity(paths: Pick<StatePaths, 'workspaceFile'>, identity: Identity): void {
  replaceFile(paths.workspaceFile, `${JSON.stringify(identity)}\n`, 0o600);
}

/**
 * The device does not count: its number may change with every boot. Nor does the path: a folder may have
 * been renamed along with its queue. An inode alone may be given to a later folder, its birth time not.
 */
export function sameFolder(a: Identity, b: Identity): boolean {
  if (a.birthtime !== '0' && b.birthtime !== '0' && a.birthtime !== b.birthtime) return false;
  return a.ino === b.ino;
}
