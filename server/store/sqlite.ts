/**
 * The one door to SQLite. It is loaded late, because better-sqlite3 ends the whole process under a
 * Node.js older than its binary, where a sentence is wanted instead; and every connection passes
 * through `connect`, because a WAL database reopens with settings that lose acknowledged writes.
 */
import type BetterSqlite3 from 'better-sqlite3';
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../shared/errors.ts';
import { OLDEST_NODE } from '../../shared/limits.ts';

/**
 * The SQLite driver.
 * @throws ENVIRONMENT under a Node.js that cannot load it.
 */
export async function loadSqlite(node: string = process.versions.node): Promise<typeof BetterSqlite3> {
  if (Number.parseInt(node, 10) < OLDEST_NODE) {
    throw new LanewayError(
      'ENVIRONMENT',
      `the queue's database needs Node.js ${OLDEST_NODE} or newer; this is ${node} (${process.execPath})`,
      `run lane with Node.js ${OLDEST_NODE} or newer, or let VS Code start the server`,
    );
  }
  return (await import('better-sqlite3')).default;
}

export interface ConnectOptions {
  /** Busy timeout of one try, ms. It blocks the event loop for as long as it lasts. */
  busyMs: number;
  /** Changes nothing, not even by closing: the last writer to close folds the log into the file. */
  readonly?: boolean;
}

/** A connection to an existing file, before anything is asked of it. Errors are SQLite's own. */
export async function connect(file: string, { busyMs, readonly = false }: ConnectOptions): Promise<Database> {
  const Sqlite = await loadSqlite();
  return new Sqlite(file, { timeout: busyMs, fileMustExist: true, readonly });
}

/**
 * What every connection must have, since none of it is stored in the file: synchronous FULL, or an
 * acknowledged commit could be lost with the power (macOS also needs fullfsync to reach the disk).
 */
export function configure(db: Database): void {
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  if (process.platform === 'darwin') {
    db.pragma('fullfsync = ON');
    db.pragma('checkpoint_fullfsync = ON');
  }
  // Statements with triggers keep a journal of their own; in a file it costs a third of a batch add.
  db.pragma('temp_store = MEMORY');
  // A batch of 10,000 jobs may grow the log once; it need not stay that large.
  db.pragma('journal_size_limit = 16777216');
  // Claims and finishes touch few pages: a small cache keeps the process small, which keeps fork cheap.
  db.pragma('cache_size = -4000');
}
