/**
 * Told when a log has other bytes than before: by the file system, not by polling. A burst of
 * writes becomes one hint; what a hint says is the size, the reader pulls the bytes.
 */
import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';

/** At most one hint in this time; the first of a burst goes out at once. */
const HINT_MS = 20;
/** Where the system cannot watch (no watches left): looked at this often. */
const WITHOUT_WATCH_MS = 250;

/**
 * Follow one file, which need not exist yet and may vanish and come back. `onSize` gets its bytes, 0 while there is
 * none. Returns how to end it: idempotent, and no hint comes afterwards.
 */
export function follow(file: string, onSize: (size: number) => void): () => void {
  let size = 0;
  let looking = false;
  let again = false;
  let closed = false;
  let resting: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | null = null;
  let watched: string | null = null;
  let fallback: NodeJS.Timeout | undefined;

  const look = () => {
    if (looking || resting !== undefined) {
      again = true;
      return;
    }
    looking = true;
    again = false;
    void sizeOf(file).then((now) => {
      looking = false;
      if (closed) return;
      attach(now !== null);
      if ((now ?? 0) !== size) {
        size = now ?? 0;
        onSize(size);
        rest();
      } else if (again) look();
    });
  };

  const rest = () => {
    resting = setTimeout(() => {
      resting = undefined;
      if (again) look();
    }, HINT_MS);
  };

  /** Watch the file itself, or, while it is missing, the nearest folder in which it can appear. */
  const attach = (exists: boolean) => {
    if (fallback !== undefined || (exists && watched === file)) return;
    for (const target of exists ? [file] : ancestors(file)) {
      if (target === watched) return;
      try {
        const next = watch(target, { persistent: false }, (event) => {
          // Moved, deleted or replaced: this watch is on something that is no longer the log.
          if (event === 'rename' && watched === file) detach();
          look();
        });
        detach();
        next.on('error', () => detach());
        watcher = next;
        watched = target;
        // What happened before the watch stood was told to nobody.
        again = true;
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
        fallback = setInterval(look, WITHOUT_WATCH_MS);
        return;
      }
    }
  };

  const detach = () => {
    watcher?.close();
    watcher = null;
    watched = null;
  };

  look();
  return () => {
    closed = true;
    detach();
    clearTimeout(resting);
    clearInterval(fallback);
  };
}

function* ancestors(file: string): Generator<string> {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    yield folder;
    if (folder === path.dirname(folder)) return;
  }
}

async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch {
    return null;
  }
}
