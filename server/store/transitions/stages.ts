/** What a running job records of itself: finished stages (checkpoint) and durable sleeps (sleep). */
import { LanewayError } from '../../../shared/errors.ts';
import { MAX_CHECKPOINT } from '../../../shared/limits.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Owner, Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { record } from './events.ts';
import { conflict } from './results.ts';

interface Stored {
  kind: 'stage' | 'sleep';
  until: number | null;
  slept: number;
}

/**
 * Store a finished stage's stdout.
 * @throws CONFLICT when the attempt no longer owns the job, or the name is taken; INVALID_INPUT above 1 MiB.
 */
export function checkpoint(tx: Tx, owner: Owner, name: string, stdout: Uint8Array): void {
  if (stdout.byteLength > MAX_CHECKPOINT) {
    throw new LanewayError(
      'INVALID_INPUT',
      `stage ${quoteValue(name)} printed ${stdout.byteLength} bytes; at most ${MAX_CHECKPOINT} are kept`,
      'Let the stage write to a file and print its name',
    );
  }
  mustOwn(tx, owner);
  if (stored(tx, owner, name) !== undefined) {
    throw conflict(
      `${quoteValue(name)} of job ${owner.jobId} is recorded already`,
      'Give every stage a name of its own',
    );
  }
  statement(
    tx.db,
    `INSERT INTO checkpoints (job_id, name, kind, attempt, at, stdout) VALUES (?, ?, 'stage', ?, ?, ?)`,
  ).run(owner.jobId, name, owner.attempt, tx.now, Buffer.from(stdout));
  record(tx, 'checkpointed', owner, { name, bytes: stdout.byteLength });
}

/**
 * Record that the job wants to be resumed later, or find that this sleep is over. The event is
 * `slept`, when the attempt has really ended for it.
 * @throws CONFLICT when the attempt no longer owns the job, or the name is a stage's.
 */
export function sleep(tx: Tx, owner: Owner, name: string, durationMs: number): { elapsed: boolean; until: number } {
  mustOwn(tx, owner);
  const found = stored(tx, owner, name);
  if (found?.kind === 'stage') {
    throw conflict(`${quoteValue(name)} of job ${owner.jobId} is a stage`, 'give the sleep a name of its own');
  }
  const planned = found?.until ?? tx.now + durationMs;
  // Slept, it is over whenever the job runs again: by its time, or earlier by a person's wish.
  const elapsed = found?.slept === 1 || planned <= tx.now;
  const until = elapsed ? Math.min(planned, tx.now) : planned;
  statement(
    tx.db,
    `INSERT INTO checkpoints (job_id, name, kind, attempt, at, until, pending, slept) VALUES (?, ?, 'sleep', ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET pending = excluded.pending, slept = excluded.slept, until = excluded.until,
       attempt = iif(excluded.slept, attempt, excluded.attempt)`,
  ).run(owner.jobId, name, owner.attempt, tx.now, until, elapsed ? 0 : 1, elapsed ? 1 : 0);
  return { elapsed, until };
}

function mustOwn(tx: Tx, owner: Owner): void {
  const owned = statement(
    tx.db,
    `SELECT 1 FROM job_runtime
     WHERE job_id = ? AND state = 'running' AND attempts = ? AND worker_id = ? AND fence = ?`,
  ).get(owner.jobId, owner.attempt, owner.workerId, owner.fence);
  if (owned !== undefined) return;
  throw conflict(
    `attempt ${owner.attempt} no longer owns job ${owner.jobId}; nothing was recorded`,
    'Another worker took the job over: this process should end',
  );
}

function stored(tx: Tx, owner: Owner, name: string): Stored | undefined {
  return statement<Stored>(tx.db, 'SELECT kind, until, slept FROM checkpoints WHERE job_id = ? AND name = ?').get(
    owner.jobId,
    name,
  );
}
