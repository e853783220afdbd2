/**
 * Watches over the files by which a server is found and by which it is the only one: people and
 * cleaners of temporary folders delete things. What can be made again is; what cannot ends the server.
 *
 * On Linux the system tells when the socket goes, which everybody who comes needs at once; the rest may wait
 * for a look, and an idle server sleeps between them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { toErrorData } from '../shared/errors.ts';
import type { StatePaths } from '../shared/paths.ts';
import type { Ending } from './ending.ts';
import type { Listener } from './listener.ts';
import { type FileLock, tryFileLock } from './store/fileLock.ts';

/** Milliseconds between two looks where the system tells of a lost socket at once, and where it does not. */
const TOLD_MS = 2000;
const UNTOLD_MS = 500;

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
  let wanted = false;
  let stopped = false;

  const look = async (): Promise<void> => {
    if (stopped) return;
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
  /** One look at a time; what happened during one means another. */
  const lookNow = async (): Promise<void> => {
    wanted = true;
    if (looking) return;
    looking = true;
    while (wanted) {
      wanted = false;
      await look().catch((error: unknown) =>
        log(`what a server needs cannot be made again: ${toErrorData(error).message}`),
      );
    }
    looking = false;
    if (told && !stopped) watcher.follow();
  };
  const told = process.platform === 'linux' && paths.socketFolder !== null;
  const watcher = folderWatcher(paths.socketFolder ?? '', path.basename(paths.socket), () => void lookNow());
  if (told) watcher.follow();
  const timer = setInterval(() => void lookNow(), told ? TOLD_MS : UNTOLD_MS);
  const stop = (): void => {
    stopped = true;
    clearInterval(timer);
    watcher.close();
  };
  return () => {
    stop();
    for (const held of locks) held.release();
  };
}

/** Calls `changed` when a name in a folder comes or goes, or the folder itself does. */
function folderWatcher(folder: string, name: string, changed: () => void): { follow(): void; close(): void } {
  let watcher: fs.FSWatcher | null = null;
  let watched = '';
  const close = (): void => {
    watcher?.close();
    watcher = null;
    watched = '';
  };
  return {
    close,
    /** Watch the folder that lies there now. */
    follow() {
      const now = inodeOf(folder);
      if (now === watched) return;
      close();
      try {
        watcher = fs.watch(folder, { persistent: false }, (_event, what) => {
          if (what === null || what === name || what === path.basename(folder)) changed();
        });
        watcher.on('error', close);
        watched = now;
      } catch {
        // Not there, or no watches are left: the next look tries again.
      }
    },
  };
}

/** `stat` opens no descriptor, which would free this process's locks when closed. */
function inodeOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}
