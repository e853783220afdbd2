/**
 * The only way to write: transitions that arrive together share one immediate transaction, each
 * under its own savepoint, and are answered after the commit. One sync of the disk then serves
 * them all, and a transition that throws undoes itself alone.
 *
 * A transition may be called again after everything it did was rolled back, so it must not keep
 * anything outside of the transaction.
 */
import fs from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../shared/errors.ts';
import type { EventType } from '../../shared/event.ts';
import type { Clock, StorePoint, Tx } from './api.ts';
import { whileBusy } from './busy.ts';
import { schemaNewer, schemaOf } from './migrate.ts';
import { toStoreError, troubleOf } from './sqliteErrors.ts';
import { statement } from './statements.ts';

/** Transitions in one transaction: bounds how long the write lock is held. */
const MAX_GROUP = 128;
/** A group ends early after this many milliseconds of work, for the same reason. */
const MAX_GROUP_MS = 25;
const LOCK_MS = 60_000;

interface Call {
  transition: (tx: Tx) => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

type Answer = { call: Call; value: unknown } | { call: Call; error: unknown };

export interface WriterOptions {
  db: Database;
  file: string;
  schema: number;
  clock: Clock;
  /** Events were committed. */
  committed: () => void;
  point?: StorePoint;
}

export class Writer {
  readonly #db: Database;
  readonly #file: string;
  readonly #schema: number;
  readonly #clock: Clock;
  readonly #committed: () => void;
  readonly #point: StorePoint | undefined;
  readonly #identity: string;
  #queue: Call[] = [];
  #pumping: Promise<void> | null = null;
  #closed = false;

  constructor({ db, file, schema, clock, committed, point }: WriterOptions) {
    this.#db = db;
    this.#file = file;
    this.#schema = schema;
    this.#clock = clock;
    this.#committed = committed;
    this.#point = point;
    this.#identity = identityOf(file);
  }

  write<T>(transition: (tx: Tx) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#closed) {
        reject(new LanewayError('ENVIRONMENT', 'the queue was closed before this could be written', 'Try again'));
        return;
      }
      this.#queue.push({ transition, resolve: resolve as (value: unknown) => void, reject });
      this.#pumping ??= this.#pump();
    });
  }

  /** Finishes what was asked for, and takes no more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pumping;
  }

  async #pump(): Promise<void> {
    // What arrives in the same turn of the event loop goes into the same transaction.
    await nextTurn();
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MAX_GROUP);
      await this.#run(group);
      if (this.#queue.length > 0) await nextTurn();
    }
    this.#pumping = null;
  }

  async #run(group: Call[]): Promise<void> {
    let answers: Answer[];
    try {
      answers = await whileBusy(() => this.#transaction(group), { clock: this.#clock, deadlineMs: LOCK_MS });
    } catch (error) {
      if (group.length === 1 || troubleOf(error) === 'busy' || error instanceof LanewayError) {
        for (const call of group) call.reject(toStoreError(error, this.#file));
        return;
      }
      // One that needs more than the disk has must not take its neighbours with it: each alone.
      for (const call of group) await this.#run([call]);
      return;
    }
    this.#queue.unshift(...group.slice(answers.length));
    for (const answer of answers) {
      if ('error' in answer) answer.call.reject(toStoreError(answer.error, this.#file));
      else answer.call.resolve(answer.value);
    }
  }

  /**
   * One transaction of as many calls as fit its time; throws when it had to be rolled back as a whole.
   * A call on its own needs no savepoint, which would copy every page it changes.
   */
  #transaction(group: Call[]): Answer[] {
    const db = this.#db;
    const answers: Answer[] = [];
    let appended: boolean;
    statement(db, 'BEGIN IMMEDIATE').run();
    try {
      this.#check();
      const before = lastEvent(db);
      const end = this.#clock.ticks() + MAX_GROUP_MS;
      const now = this.#clock.now();
      for (const call of group) {
        if (answers.length > 0 && this.#clock.ticks() > end) break;
        const tx: Tx = { db, now, event: (event) => appendEvent(db, now, event) };
        if (group.length > 1) statement(db, 'SAVEPOINT call').run();
        try {
          answers.push({ call, value: call.transition(tx) });
        } catch (error) {
          // Trouble of the disk concerns the whole transaction; SQLite may even have ended it already.
          if (troubleOf(error) !== 'other' || !db.inTransaction) throw error;
          answers.push({ call, error });
          if (group.length === 1) {
            statement(db, 'ROLLBACK').run();
            return answers;
          }
          statement(db, 'ROLLBACK TO call').run();
        }
        if (group.length > 1) statement(db, 'RELEASE call').run();
      }
      appended = lastEvent(db) > before;
      const types = this.#point === undefined ? [] : typesSince(db, before);
      this.#pass('before', types);
      statement(db, 'COMMIT').run();
      this.#pass('after', types);
    } catch (error) {
      if (db.inTransaction) statement(db, 'ROLLBACK').run();
      throw error;
    }
    if (appended) this.#committed();
    return answers;
  }

  #pass(when: 'before' | 'after', types: EventType[]): void {
    this.#point?.(`commit:${when}`);
    for (const type of types) this.#point?.(`commit:${when}:${type}`);
  }

  /**
   * This build may only write the schema it was made for, and only to the file that everybody else
   * sees: after a deletion or a move, commits would go to a file that nobody finds again.
   */
  #check(): void {
    const found = schemaOf(this.#db);
    if (found !== this.#schema) throw schemaNewer(this.#file, found, this.#schema);
    if (identityOf(this.#file) !== this.#identity) {
      throw new LanewayError(
        'ENVIRONMENT',
        `the queue's database ${this.#file} was deleted or replaced while in use`,
        'restart the server: lane server restart',
      );
    }
  }
}

/** Of the ledger, whoever wrote it: batches write theirs in wide statements, past `Tx.event`. */
function lastEvent(db: Database): number {
  return statement<{ id: number | null }>(db, 'SELECT max(id) AS id FROM job_events').get()?.id ?? 0;
}

function typesSince(db: Database, event: number): EventType[] {
  const sql = 'SELECT DISTINCT event_type AS type FROM job_events WHERE id > ?';
  return statement<{ type: EventType }>(db, sql)
    .all(event)
    .map(({ type }) => type);
}

type NewEvent = Parameters<Tx['event']>[0];

function appendEvent(db: Database, now: number, event: NewEvent): number {
  const { jobId, attempt, type, workerId, detail } = event;
  return Number(
    statement(
      db,
      `INSERT INTO job_events (job_id, attempt, event_type, at, worker_id, detail) VALUES (?, ?, ?, ?, ?, ?)`,
    ).run(jobId, attempt, type, now, workerId, detail === undefined ? '{}' : JSON.stringify(detail)).lastInsertRowid,
  );
}

/** Device and inode; `stat` opens no descriptor, which would free this process's locks when closed. */
function identityOf(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? 'gone' : `${stat.dev}:${stat.ino}`;
}
