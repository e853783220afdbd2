/**
 * A lock between processes that dies with its holder: a tiny SQLite file held under `BEGIN
 * EXCLUSIVE`. The file stays when the lock is given back, since removing it would race with the
 * next taker. Nothing else may open it: closing any descriptor of a file frees this process's locks on it.
 */
import fs from 'node:fs';
import { isBusy } from './sqliteErrors.ts';
import { loadSqlite } from './sqlite.ts';

export interface FileLock {
  /** Idempotent. */
  release(): void;
}

/** Take the lock, or null when another process (or connection) holds it. Errors are SQLite's or the file system's. */
export async function tryFileLock(file: string): Promise<FileLock | null> {
  const Sqlite = await loadSqlite();
  // Made by hand when missing: SQLite itself would make it 0644. `wx`, so that an existing file is never opened here.
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const db = new Sqlite(file, { timeout: 0 });
  try {
    // No journal on disk: nothing is ever written, and a killed holder leaves nothing to roll back.
    db.pragma('journal_mode = MEMORY');
    db.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return {
    release: () => {
      if (db.open) db.close();
    },
  };
}
