/**
 * A damaged database is never overwritten and never repaired in place: it is moved aside under a
 * new name, with its write-ahead log, and a new one starts. Only damage leads here; a lock, a
 * permission or a full disk does not.
 */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../shared/errors.ts';
import type { Clock } from './api.ts';
import { tryFileLock } from './fileLock.ts';
import { connect } from './sqlite.ts';
import { troubleOf } from './sqliteErrors.ts';
import { statement } from './statements.ts';

/** Up to this size every page is looked at when a database is opened (about 10 ms); of a larger one, what the queue lives on. */
const WHOLE_CHECK_BYTES = 2 * 1024 * 1024;
const VITAL_TABLES = ['meta', 'counters', 'lanes', 'workers', 'job_runtime'];
const LOCK_MS = 30_000;

/** Damage that SQLite's own check found, in the shape of its errors. */
class Damage extends Error {
  readonly code = 'SQLITE_CORRUPT';
}

/**
 * Reads what tells a sound database from a damaged or a foreign one; writes nothing.
 * @throws an error of code SQLITE_CORRUPT or SQLITE_NOTADB when damaged; REFUSED when it is no queue.
 */
export function probe(db: Database, file: string): void {
  const row = statement<{ schema: number; tables: number }>(
    db,
    `SELECT (SELECT user_version FROM pragma_user_version) AS schema, (SELECT count(*) FROM sqlite_schema) AS tables`,
  ).get();
  if (row === undefined || row.tables === 0) return;
  if (row.schema === 0) {
    throw new LanewayError(
      'REFUSED',
      `${file} is a database of something else; nothing was changed`,
      'Move it away, or point LANEWAY_HOME to another folder',
    );
  }
  const whole = fs.statSync(file).size <= WHOLE_CHECK_BYTES;
  const tables = new Set(db.prepare<[], string>('SELECT name FROM sqlite_schema').pluck().all());
  const checks = whole ? ['1'] : VITAL_TABLES.filter((table) => tables.has(table)).map((table) => `'${table}'`);
  for (const what of checks) {
    const verdict = db.prepare<[], string>(`PRAGMA quick_check(${what})`).pluck().get();
    if (verdict !== undefined && verdict !== 'ok') throw new Damage(verdict);
  }
}

/**
 * Moves the damaged database aside unless another process did so meanwhile. One process at a time
 * does this, and looks again first: or the new database of the first would be moved by the second.
 */
export async function setAside(
  file: string,
  { clock, busyMs, warn }: { clock: Clock; busyMs: number; warn: (message: string) => void },
): Promise<void> {
  const lock = await repairLock(path.join(path.dirname(file), 'repair.lock'), clock);
  try {
    const damage = fs.existsSync(file) ? await damageOf(file, busyMs) : null;
    if (damage === null) return;
    const target = freeName(file, clock.now());
    // The log goes first: a new database beside an old log would have that log replayed into it.
    for (const suffix of ['-wal', '-shm', '']) {
      if (fs.existsSync(file + suffix)) fs.renameSync(file + suffix, target + suffix);
    }
    warn(
      `the queue's database was damaged (${damage}) and has been set aside as ${target}; a new, empty one starts. ` +
        'Jobs of the old one do not run; its file is kept for you to look at or delete',
    );
  } finally {
    lock.release();
  }
}

async function damageOf(file: string, busyMs: number): Promise<string | null> {
  const db = await connect(file, { busyMs, readonly: true });
  try {
    probe(db, file);
    return null;
  } catch (error) {
    if (troubleOf(error) !== 'damaged') throw error;
    return error instanceof Error ? error.message : String(error);
  } finally {
    db.close();
  }
}

async function repairLock(file: string, clock: Clock): Promise<{ release(): void }> {
  const end = clock.ticks() + LOCK_MS;
  for (;;) {
    const lock = await tryFileLock(file);
    if (lock !== null) return lock;
    if (clock.ticks() >= end) {
      throw new LanewayError(
        'ENVIRONMENT',
        `another process has been repairing the queue for ${LOCK_MS / 1000} s`,
        null,
      );
    }
    await pause(5 + Math.random() * 20);
  }
}

/** `queue.damaged-20261130T234213.db`, or with a number when that is taken. */
function freeName(file: string, now: number): string {
  const { dir, name, ext } = path.parse(file);
  const stamp = new Date(now).toISOString().replaceAll(/[-:]|\.\d+Z/g, '');
  for (let n = 1; ; n++) {
    const target = path.join(dir, `${name}.damaged-${stamp}${n === 1 ? '' : `-${n}`}${ext}`);
    if (['', '-wal', '-shm'].every((suffix) => !fs.existsSync(target + suffix))) return target;
  }
}
