/**
 * When to look at `data_version`: often while somebody writes the database, hardly while nobody does,
 * so that an idle server sleeps. On Linux the system says that the database's log was written. That
 * is a little before the commit can be seen, so a written log means looking for a while, not once.
 */
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';

/** Milliseconds between two looks: other processes' commits are seen well within 100 ms. */
export const WATCH_MS = 60;
/** Looks in a row that see nothing before the system is left to say when to go on: longer than a slow sync. */
const LOOKS = 10;
/** Milliseconds between two looks while the system watches, should it have missed something. */
const ASLEEP_MS = 1000;

/**
 * Calls `look`, which answers whether it saw a change, until the returned function is called. Only the
 * folder is watched: nothing but SQLite may open the database's own files.
 */
export function watchDatabase(file: string, look: () => boolean, platform = process.platform): () => void {
  const name = path.basename(file);
  let watcher: FSWatcher | null = null;
  let timer: NodeJS.Timeout | undefined;
  let left = LOOKS;

  const every = (ms: number, action: () => void): void => {
    clearInterval(timer);
    timer = setInterval(action, ms);
    timer.unref();
  };
  const awake = (): void => {
    watcher?.close();
    watcher = null;
    left = LOOKS;
    every(WATCH_MS, () => {
      if (look()) left = LOOKS;
      else if (--left <= 0 && platform === 'linux') sleep();
    });
  };
  const sleep = (): void => {
    try {
      watcher = watch(path.dirname(file), { persistent: false }, (_event, changed) => {
        if (changed?.startsWith(name) ?? true) awake();
      });
      watcher.on('error', awake);
    } catch {
      // No watches are left: as before, then.
      left = LOOKS;
      return;
    }
    // What was written before the watch stood may only now be seen.
    every(WATCH_MS, () => {
      if (look()) awake();
      else every(ASLEEP_MS, () => (look() ? awake() : undefined));
    });
  };

  awake();
  return () => {
    clearInterval(timer);
    watcher?.close();
    watcher = null;
  };
}
