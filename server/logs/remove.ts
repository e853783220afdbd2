/** Deleting logs, and the folders that this leaves empty. */
import { rmdirSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import { locateLog } from './paths.ts';

/**
 * Delete the files of pruned attempts. Returns those that are gone from disk now (missing ones
 * included), as they were named; a file that could not be deleted is left for the next time.
 * Names that are not of our making count as gone and touch nothing.
 */
export async function removeLogs(logs: string, recorded: string[]): Promise<string[]> {
  const gone: string[] = [];
  const folders = new Set<string>();
  for (const name of recorded) {
    const file = locateLog(logs, name);
    if (file === null || (await removed(file))) gone.push(name);
    if (file !== null) folders.add(path.dirname(file));
  }
  for (const folder of folders) removeEmptyFolder(folder);
  return gone;
}

async function removed(file: string): Promise<boolean> {
  try {
    await unlink(file);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** A folder that is not empty, or gone already, stays as it is. */
export function removeEmptyFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Still in use, which is the usual case.
  }
}
