/** Checks of the database as such, and of how it is used: those that are quick, and SQLite's own deep ones. */
import { LEASE_MS } from '../../../shared/limits.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import { firstOf, name, offending } from './invariant.ts';
import type { Finding, Invariant } from './invariant.ts';

const DAMAGED =
  'The file is damaged: a disk that fails, a copy of a database in use. Stop the server and restore a backup, or move the file away to begin anew.';
const SYNCHRONOUS_FULL = 2;
/** Files still to delete that are no cause for worry. */
const FEW_FILES = 1000;
/** How far ahead of the clock a stamp may be before somebody should know. */
const AHEAD_MS = 60 * 60_000;

function one(r: Reader, sql: string, ...params: unknown[]): number {
  return statement<{ n: number }>(r.db, sql).get(...params)?.n ?? 0;
}

function connection(r: Reader): Finding {
  const journal = r.db.pragma('journal_mode', { simple: true });
  if (journal !== 'wal') return `the journal mode is ${String(journal)}, not wal`;
  const synchronous = r.db.pragma('synchronous', { simple: true });
  if (synchronous !== SYNCHRONOUS_FULL)
    return `synchronous is ${String(synchronous)}, not FULL: a power cut could lose acknowledged jobs`;
  return r.db.pragma('foreign_keys', { simple: true }) === 1
    ? null
    : 'foreign keys are not enforced on this connection';
}

function workers(r: Reader): Finding {
  const silent = offending(
    r,
    'running jobs whose worker has shown no life for a lease',
    `SELECT r.job_id FROM job_runtime r LEFT JOIN workers w ON w.id = r.worker_id
     WHERE r.state = 'running' AND (w.id IS NULL OR w.heartbeat_at < ?)`,
    r.now - LEASE_MS,
  );
  if (silent !== null) return { warn: silent };
  const due = one(r, 'SELECT coalesce(sum(queued - delayed), 0) AS n FROM lanes WHERE paused = 0');
  const alive = one(r, 'SELECT count(*) AS n FROM workers WHERE heartbeat_at >= ?', r.now - LEASE_MS);
  if (due === 0 || alive > 0) return null;
  return { warn: `${due} ${due === 1 ? 'job is' : 'jobs are'} due and no worker is there` };
}

function clock(r: Reader): Finding {
  const newest = one(r, 'SELECT coalesce(max(at), 0) AS n FROM (SELECT at FROM job_events ORDER BY id DESC LIMIT 1)');
  if (newest <= r.now + AHEAD_MS) return null;
  return { warn: `the newest event is of ${new Date(newest).toISOString()}, later than the clock says it is` };
}

function files(r: Reader): Finding {
  const left = one(r, 'SELECT count(*) AS n FROM pruned_files');
  return left <= FEW_FILES ? null : { warn: `${left} log files of pruned jobs are still to be deleted` };
}

function settlements(r: Reader): Finding {
  const left = one(r, 'SELECT count(*) AS n FROM settlements');
  if (left > 0)
    return { warn: `the dependents of ${left} ended ${left === 1 ? 'job are' : 'jobs are'} still to be settled` };
  const revivals = one(r, 'SELECT count(*) AS n FROM revivals');
  return revivals === 0
    ? null
    : {
        warn: `the dependents of ${revivals} retried ${revivals === 1 ? 'job are' : 'jobs are'} still to be brought back`,
      };
}

function integrity(r: Reader): Finding {
  const rows = r.db.pragma('integrity_check(6)') as { integrity_check: string }[];
  const faults = rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  return faults.length === 0 ? null : name('SQLite finds the file damaged', faults);
}

function foreignKeys(r: Reader): Finding {
  const rows = r.db.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[];
  if (rows.length === 0) return null;
  return name(
    'rows that name what does not exist',
    rows.slice(0, 6).map((row) => `${row.table} ${row.rowid ?? ''} → ${row.parent}`),
  );
}

export const DATABASE: readonly Invariant[] = [
  {
    id: 'connection',
    deep: false,
    holds: 'writes are journaled ahead and synced before they are acknowledged',
    hint: 'Stop the server and start it again; a tool that changed the file should leave it alone.',
    find: connection,
  },
  {
    id: 'tables',
    deep: false,
    holds: 'the tables can be read',
    hint: DAMAGED,
    find: (r) => {
      for (const table of [
        'meta',
        'counters',
        'lanes',
        'jobs',
        'job_runtime',
        'job_outcomes',
        'attempts',
        'job_events',
        'workers',
      ]) {
        statement(r.db, `SELECT * FROM ${table} LIMIT 1`).get();
      }
      return null;
    },
  },
  {
    id: 'workers',
    deep: false,
    holds: 'what runs is owned by workers that live, and what is due has one',
    hint: 'Start the server: lane server start. It takes over what a killed worker left.',
    find: workers,
  },
  {
    id: 'clock',
    deep: false,
    holds: 'the clock is not behind the queue',
    hint: 'Set the clock. Delayed jobs wait for the times they were given; jobs without one are not held up.',
    find: clock,
  },
  {
    id: 'leftovers',
    deep: false,
    holds: 'nothing is left over to settle or to delete',
    hint: 'The server does this while it runs: lane server start.',
    find: (r) =>
      firstOf(
        () => settlements(r),
        () => files(r),
      ),
  },
  { id: 'foreign-keys', deep: true, holds: 'every row that is named exists', hint: DAMAGED, find: foreignKeys },
  { id: 'integrity', deep: true, holds: 'SQLite finds the file whole', hint: DAMAGED, find: integrity },
];
