/**
 * When to look at `data_version`: often while somebody writes the database, hardly while nobody does,
 * so that an idle server sleeps. On Linux the system says that the database's log was written. That
 * is a little before the commit can be seen, so looks follow, each after twice the time of the one
 * before: however slow the disk is, a commit is seen soon after it is there.
 */
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

/** Milliseconds between two looks: other processes' commits are seen well within 100 ms. */
export const WATCH_MS = 60;
/** The most milliseconds between two looks while the system watches, should it have missed something. */
const ASLEEP_MS = 2000;

/**
 * Calls `look`, which answers whether it saw a change, until the returned function is called. Only the
 * folder is watched: nothing but SQLite may open the database's own files.
 */
export function watchDatabase(file: string, look: () => boolean, platform = process.platform): () => void {
  const name = path.basename(file);
  let watcher: FSWatcher | null = null;
  let timer: NodeJS.Timeout | undefined;

  const lookAfter = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (look()) awake();
      else lookAfter(isWatched() ? Math.min(2 * ms, ASLEEP_MS) : WATCH_MS);
    }, ms);
    timer.unref();
  };
  /** Whoever writes a lot is not listened to: the look that comes sees all of it. */
  const awake = (): void => {
    watcher?.close();
    watcher = null;
    lookAfter(WATCH_MS);
  };
  const isWatched = (): boolean => {
    if (watcher !== null || platform !== 'linux') return watcher !== null;
    try {
      watcher = watch(path.dirname(file), { persistent: false }, (_event, changed) => {
        if (changed?.startsWith(name) ?? true) awake();
      });
      watcher.on('error', awake);
      return true;
    } catch {
      // No watches are left.
      return false;
    }
  };

  awake();
  return () => {
    clearTimeout(timer);
    watcher?.close();
    watcher = null;
  };
}
