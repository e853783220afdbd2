/** Whether a server runs for a queue, asked without speaking to it. */
import fs from 'node:fs';
import type { StatePaths } from '../../shared/paths.ts';
import { readServerFile, type ServerFile } from './serverFile.ts';
import { tryFileLock } from '../store/fileLock.ts';

/** What the running server wrote of itself; null when none holds the lock. */
export async function findServer(paths: StatePaths): Promise<ServerFile | null> {
  if (!(await isLocked(paths))) return null;
  return readServerFile(paths);
}

/** True while a server (or a move, or a removal) has the queue's instance lock. */
export async function isLocked(paths: StatePaths): Promise<boolean> {
  if (!fs.existsSync(paths.lock)) return false;
  const lock = await tryFileLock(paths.lock);
  lock?.release();
  return lock === null;
}
