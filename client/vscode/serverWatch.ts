/**
 * Notices that a server began, without asking anybody: the file it writes once it listens is
 * watched. Before there is a folder for it, the nearest folder that exists is watched instead.
 */
import fs from 'node:fs';
import path from 'node:path';

/** Folders change in bursts: looked at once, this many milliseconds after the first change. */
const SETTLE_MS = 50;
/** Where nothing can be watched any more (the system has too few handles), a look this often, in milliseconds. */
const LOOK_MS = 10_000;

/** Calls `onSeen` when the file appears or is replaced. A file that is there already is not told. */
export function watchServerFile(file: string, onSeen: () => void): { dispose(): void } {
  const home = path.dirname(file);
  /** The file, and the folder itself, whose end is told by its own name. */
  const telling: ReadonlySet<string> = new Set([path.basename(file), path.basename(home)]);
  let watched: string | null = null;
  let watcher: fs.FSWatcher | null = null;
  let timer: NodeJS.Timeout | null = null;
  let disposed = false;

  const close = (): void => {
    watcher?.close();
    watcher = null;
  };
  const later = (then: () => void, ms: number): void => {
    if (disposed) return;
    timer ??= setTimeout(() => {
      timer = null;
      then();
    }, ms);
  };
  const look = (): void => {
    if (disposed) return;
    const before = watched;
    if (nearest(home) !== watched || !watcher) watch();
    // What came with the folder came before its watcher.
    if (watched === home && (before === home || fs.existsSync(file))) onSeen();
  };
  const watch = (): void => {
    close();
    watched = nearest(home);
    try {
      watcher = fs.watch(watched, { persistent: false }, (_event, name) => {
        if (watched !== home || name === null || telling.has(name)) later(look, SETTLE_MS);
      });
      watcher.on('error', () => {
        close();
        later(look, SETTLE_MS);
      });
      // It may have been made between the two.
      if (nearest(home) !== watched) later(look, SETTLE_MS);
    } catch {
      later(look, LOOK_MS);
    }
  };
  watch();
  return {
    dispose() {
      disposed = true;
      if (timer) clearTimeout(timer);
      close();
    },
  };
}

/** The folder itself, or the nearest of those above it that exists. */
function nearest(folder: string): string {
  for (let each = folder; ; each = path.dirname(each)) {
    if (fs.existsSync(each) || path.dirname(each) === each) return each;
  }
}
