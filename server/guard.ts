/**
 * Watches over the files by which a server is found and by which it is the only one: people and
 * cleaners of temporary folders delete things. What can be made again is; what cannot ends the server.
 */
import fs from 'node:fs';
import { toErrorData } from '../shared/errors.ts';
import type { StatePaths } from '../shared/paths.ts';
import type { Ending } from './ending.ts';
import type { Listener } from './listener.ts';
import { type FileLock, tryFileLock } from './store/fileLock.ts';

/** Between two looks. */
const GUARD_MS = 500;

export interface GuardOptions {
  paths: StatePaths;
  listener: Listener;
  ending: Pick<Ending, 'ask'>;
  log: (message: string) => void;
  /** Write `server.json`. */
  introduce: () => void;
}

/** Returns how to stop it. */
export function startGuard({ paths, listener, ending, log, introduce }: GuardOptions): () => void {
  const database = inodeOf(paths.database);
  let lock = inodeOf(paths.lock);
  const locks: FileLock[] = [];
  let looking = false;

  const look = async (): Promise<void> => {
    // What would be written from now on, nobody would find again.
    if (inodeOf(paths.database) !== database) {
      ending.ask({ force: true, reason: 'its database was taken away' });
      return;
    }
    if (inodeOf(paths.lock) !== lock) {
      const again = await tryFileLock(paths.lock);
      if (again === null) {
        // Two servers would take the socket from each other for ever. Running jobs may end here all the same.
        stop();
        listener.close();
        ending.ask({ force: false, reason: 'another server took its place, because its lock was taken away' });
        return;
      }
      locks.push(again);
      lock = inodeOf(paths.lock);
      log('the lock was taken away and is held again');
    }
    if (!fs.existsSync(paths.serverFile)) introduce();
    if (await listener.check()) log('the socket was gone and is listened on again');
  };
  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => log(`what a server needs cannot be made again: ${toErrorData(error).message}`))
      .finally(() => (looking = false));
  }, GUARD_MS);
  const stop = (): void => {
    clearInterval(timer);
  };
  return () => {
    stop();
    for (const held of locks) held.release();
  };
}

/** `stat` opens no descriptor, which would free this process's locks when closed. */
function inodeOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}
