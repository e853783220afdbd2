/**
 * Opening a workspace's queue: a private folder, a private file, a sound database of the right
 * schema, and one connection that both reads and writes. Nothing is thrown here that is not a
 * LanewayError with something to do about it.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../shared/errors.ts';
import type { OpenOptions, OpenStore, Reader, Store } from './api.ts';
import { type Patience, whileBusy } from './busy.ts';
import { checkFilesystem, type Ground, judgeFilesystem } from './filesystem.ts';
import { migrate, SCHEMA, schemaNewer, schemaOf } from './migrate.ts';
import { probe, setAside } from './setAside.ts';
import { configure, connect } from './sqlite.ts';
import { toStoreError, troubleOf } from './sqliteErrors.ts';
import { statement } from './statements.ts';
import { Writer } from './writer.ts';

export const DATABASE = 'queue.db';

/** What a test may put in the place of the real thing. */
export interface OpenParts {
  ground: (folder: string) => Ground;
  schema: number;
  migrations?: () => string[];
  workersMs?: number;
}

const REAL_PARTS: OpenParts = {
  ground: (folder) => judgeFilesystem(fs.statfsSync(folder).type, process.platform),
  schema: SCHEMA,
};

/**
 * Open (or make) the queue of a state folder.
 * @throws NOT_FOUND with `mustExist` and no database; SCHEMA_NEWER, untouched; REFUSED on a network
 * file system or for a database of something else; CORRUPT only with `mustExist`, else a damaged
 * database is set aside and a new one made; ENVIRONMENT for permissions, a full disk, a lock kept for long.
 */
export const openStore: OpenStore = (options) => openStoreWith(options, REAL_PARTS);

/** {@link openStore} with other parts, for tests. */
export async function openStoreWith(options: OpenOptions, parts: OpenParts): Promise<Store> {
  const file = path.join(options.folder, DATABASE);
  try {
    prepareFolder(options, file, parts);
    const { db, instance } = await openSound(file, options, parts);
    return storeOn(db, { file, instance, schema: parts.schema, options });
  } catch (error) {
    throw toStoreError(error, file);
  }
}

function prepareFolder({ folder, mustExist, warn = ignore }: OpenOptions, file: string, parts: OpenParts): void {
  if (mustExist && !fs.existsSync(file)) {
    throw new LanewayError('NOT_FOUND', `there is no queue in ${folder}`, 'Add a job first: lane add -- COMMAND');
  }
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  tighten(folder, 0o700);
  checkFilesystem(folder, parts.ground(folder), warn);
}

/** Others may see nothing of a queue: argv and environments hold secrets. */
function tighten(target: string, mode: number): void {
  if (process.platform === 'win32') return;
  const found = fs.statSync(target);
  if ((found.mode & 0o077) !== 0 && found.uid === process.getuid?.()) fs.chmodSync(target, mode);
}

async function openSound(
  file: string,
  options: OpenOptions,
  parts: OpenParts,
): Promise<{ db: Database; instance: string }> {
  const { clock, busyMs = 50, warn = ignore, mustExist, isGone, point } = options;
  for (let tries = 1; ; tries++) {
    if (makeFile(file)) point?.('open:made');
    const { schema, migrations, workersMs } = parts;
    let db: Database | undefined;
    try {
      const patience = { clock, deadlineMs: 30_000 };
      await inspect(file, schema, { busyMs, patience });
      const opened = await connect(file, { busyMs });
      db = opened;
      await whileBusy(() => configure(opened), patience);
      const instance = await migrate(opened, { clock, file, schema, migrations, workersMs, isGone, point });
      return { db: opened, instance };
    } catch (error) {
      db?.close();
      if (troubleOf(error) !== 'damaged' || mustExist || tries > 1) throw error;
      await setAside(file, { clock, busyMs, warn });
    }
  }
}

/**
 * SQLite would make the file 0644 under the usual umask; its log and shared memory take the file's
 * mode. `wx`, so that an existing database is never opened by other means than SQLite's: closing
 * such a descriptor would free the locks of a connection in this process. False: it is there already.
 */
function makeFile(file: string): boolean {
  try {
    fs.closeSync(fs.openSync(file, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    tighten(file, 0o600);
    return false;
  }
}

function storeOn(
  db: Database,
  { file, instance, schema, options }: { file: string; instance: string; schema: number; options: OpenOptions },
): Store {
  const { clock, warn = ignore, point } = options;
  const listeners = new Set<() => void>();
  const committed = (): void => {
    for (const listener of listeners) {
      try {
        listener();
      } catch (error) {
        warn(`a listener of commits failed: ${String(error)}`);
      }
    }
  };
  const writer = new Writer({ db, file, schema, clock, committed, point });
  return {
    path: file,
    instance,
    schema,
    write: (transition) => writer.write(transition),
    read: (query) => readOnce(db, file, { db, now: clock.now() }, query),
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    dataVersion: () => statement<{ data_version: number }>(db, 'PRAGMA data_version').get()?.data_version ?? 0,
    close: async () => {
      await writer.close();
      listeners.clear();
      db.close();
    },
  };
}

/** One consistent picture for all that a query reads. */
function readOnce<T>(db: Database, file: string, reader: Reader, query: (reader: Reader) => T): T {
  if (db.inTransaction) return query(reader);
  try {
    statement(db, 'BEGIN').run();
    try {
      return query(reader);
    } finally {
      if (db.inTransaction) statement(db, 'COMMIT').run();
    }
  } catch (error) {
    throw troubleOf(error) === 'other' ? error : toStoreError(error, file);
  }
}

/** Looks at the file before anything may change it, be it the journal mode in its header. */
async function inspect(
  file: string,
  schema: number,
  { busyMs, patience }: { busyMs: number; patience: Patience },
): Promise<void> {
  // Made a moment ago, here or by another process.
  if (fs.statSync(file).size === 0) return;
  const db = await connect(file, { busyMs, readonly: true });
  try {
    const found = await whileBusy(() => schemaOf(db), patience);
    if (found > schema) throw schemaNewer(file, found, schema);
    await whileBusy(() => probe(db, file), patience);
  } finally {
    db.close();
  }
}

function ignore(): void {}
