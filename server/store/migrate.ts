/**
 * Versioned, forward-only migrations. `user_version` is the number of migrations applied; each one
 * is a file in `migrations/`. Those that a database lacks are applied in one transaction together with
 * their number, so that it is never between two schemas, however many processes open it at once.
 *
 * A worker of an older schema may be in the middle of a job: its next write would be refused. So a
 * migration waits a moment for such workers to leave, then refuses beside them.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../shared/errors.ts';
import { LEASE_MS } from '../../shared/limits.ts';
import type { Clock, HostIdentity, OpenOptions, ProcessIdentity, StorePoint } from './api.ts';
import { whileBusy } from './busy.ts';
import { statement } from './statements.ts';

/** The schema this build speaks: the number of files in `migrations/`. */
export const SCHEMA = 2;

/** Beside this file in the source, and beside the bundle in `dist/`. */
const FOLDER = path.join(import.meta.dirname, 'migrations');

/** The SQL of every migration, in order. */
export function loadMigrations(folder: string = FOLDER): string[] {
  return fs
    .readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .sort()
    .map((name) => fs.readFileSync(path.join(folder, name), 'utf8'));
}

export interface MigrateOptions {
  clock: Clock;
  file: string;
  /** Which schema to reach, and how; the built-in migrations unless a test brings its own. */
  schema?: number;
  migrations?: () => string[];
  /** How long to wait for workers of an older schema, ms. */
  workersMs?: number;
  isGone?: OpenOptions['isGone'];
  point?: StorePoint;
}

const LOCK_MS = 60_000;

/** Number of migrations applied. */
export function schemaOf(db: Database): number {
  return statement<{ user_version: number }>(db, 'PRAGMA user_version').get()?.user_version ?? 0;
}

export function schemaNewer(file: string, found: number, known: number): LanewayError {
  return new LanewayError(
    'SCHEMA_NEWER',
    `the queue's database ${file} has schema ${found}; this version of Laneway knows ${known}`,
    'update Laneway (the extension and the `lane` command) to the newest version you used on this machine',
  );
}

/**
 * Brings the database to the schema of this build; gives its instance id, made with it.
 * @throws SCHEMA_NEWER, with nothing changed; ENVIRONMENT beside live workers of an older schema.
 */
export async function migrate(db: Database, options: MigrateOptions): Promise<string> {
  const { clock, file, schema = SCHEMA, migrations = loadMigrations, workersMs = 5000, isGone, point } = options;
  const gone = new Set<string>();
  const patience = { clock, deadlineMs: LOCK_MS };
  const end = clock.ticks() + workersMs;
  for (;;) {
    const found = await whileBusy(() => schemaOf(db), patience);
    if (found > schema) throw schemaNewer(file, found, schema);
    if (found === schema) return whileBusy(() => instanceOf(db), patience);
    const texts = migrations();
    const blockers = await whileBusy(() => step(db, { clock, schema, texts, gone, point }), patience);
    if (blockers.length === 0) continue;
    for (const worker of blockers) if (await isGone?.(worker)) gone.add(worker.id);
    const live = blockers.filter(({ id }) => !gone.has(id));
    if (live.length === 0) continue;
    if (clock.ticks() >= end) {
      const who = live.map((worker) => `pid ${worker.pid}`).join(', ');
      throw new LanewayError(
        'ENVIRONMENT',
        `the queue's database needs an update from schema ${found} to ${schema}, but workers of the older version still use it (${who})`,
        'end them first (`lane server stop`, Ctrl-C in `lane work`), then try again',
      );
    }
    await pause(100);
  }
}

interface Blocker extends HostIdentity, ProcessIdentity {
  id: string;
}

/** All that is missing in one transaction. Gives the live workers that stand in its way, else none. */
function step(
  db: Database,
  {
    clock,
    schema,
    texts,
    gone,
    point,
  }: { clock: Clock; schema: number; texts: string[]; gone: ReadonlySet<string>; point?: StorePoint },
): Blocker[] {
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been here first.
    const found = schemaOf(db);
    const missing = texts.slice(found, schema);
    const blockers =
      missing.length === 0 || found === 0 ? [] : liveWorkers(db, clock.now()).filter(({ id }) => !gone.has(id));
    const applies = missing.length > 0 && blockers.length === 0;
    if (applies) {
      for (const sql of missing) db.exec(sql);
      db.pragma(`user_version = ${found + missing.length}`);
      if (found === 0) db.prepare(`INSERT INTO meta (key, value) VALUES ('instance', ?)`).run(randomUUID());
      point?.('migrate:before');
    }
    db.exec('COMMIT');
    if (applies) point?.('migrate:after');
    return blockers;
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** Everyone who has shown life within a lease; all are of the older schema, or they could not be registered. */
function liveWorkers(db: Database, now: number): Blocker[] {
  const sql = `SELECT id, host, boot_id AS bootId, pid_namespace AS pidNamespace, pid, pid_start AS startTime
    FROM workers WHERE heartbeat_at > ?`;
  return db.prepare<[number], Blocker>(sql).all(now - LEASE_MS);
}

function instanceOf(db: Database): string {
  const row = statement<{ value: string }>(db, `SELECT value FROM meta WHERE key = 'instance'`).get();
  if (row === undefined) throw new LanewayError('CORRUPT', 'the database does not know its own name', null);
  return row.value;
}
