/** Workers and what they own: registration, heartbeat, the process of an attempt, and taking over from the gone. */
import { LEASE_MS } from '../../../shared/limits.ts';
import type { HostIdentity, Owner, Transitions, Tx, WorkerRegistration } from '../api.ts';
import { schemaOf } from '../migrate.ts';
import { statement } from '../statements.ts';

/** Before its first claim. Registering again replaces what was known of it. */
export function registerWorker(tx: Tx, worker: WorkerRegistration): void {
  statement(
    tx.db,
    `INSERT OR REPLACE INTO workers (id, kind, host, boot_id, pid_namespace, pid, pid_start, lanes, slots, concurrency,
       started_at, heartbeat_at, schema) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    worker.id,
    worker.kind,
    worker.host,
    worker.bootId,
    worker.pidNamespace,
    worker.pid,
    worker.startTime,
    worker.lanes === null ? null : JSON.stringify(worker.lanes),
    worker.slots,
    worker.concurrency,
    tx.now,
    tx.now,
    schemaOf(tx.db),
  );
}

/** Show life and renew every lease. False: this worker was taken for gone and its row removed. */
export function heartbeat(tx: Tx, workerId: string): boolean {
  const known = statement(tx.db, 'UPDATE workers SET heartbeat_at = ?, heartbeats = heartbeats + 1 WHERE id = ?').run(
    tx.now,
    workerId,
  ).changes;
  if (known === 0) return false;
  statement(tx.db, `UPDATE job_runtime SET lease_until = ? WHERE worker_id = ? AND state = 'running'`).run(
    tx.now + LEASE_MS,
    workerId,
  );
  return true;
}

/** A running worker goes by another limit from now on. */
export function setConcurrency(tx: Tx, workerId: string, concurrency: number): void {
  statement(tx.db, 'UPDATE workers SET concurrency = ? WHERE id = ?').run(concurrency, workerId);
}

/** Only a worker that owns nothing goes; one that does is left for a reaper. */
export function removeWorker(tx: Tx, workerId: string): void {
  statement(
    tx.db,
    `DELETE FROM workers WHERE id = ?
       AND NOT EXISTS (SELECT 1 FROM job_runtime WHERE worker_id = workers.id AND state = 'running')`,
  ).run(workerId);
}

/** Note the process and the log files of an attempt. False: the job has another owner. */
export function started(tx: Tx, owner: Owner, process: Parameters<Transitions['started']>[2]): boolean {
  return (
    statement(
      tx.db,
      `UPDATE attempts SET pid = ?, pid_start = ?, stdout_path = ?, stderr_path = ?
       WHERE job_id = ? AND number = ? AND worker_id = ? AND fence = ? AND state = 'running'`,
    ).run(
      process.pid,
      process.startTime,
      process.stdoutPath,
      process.stderrPath,
      owner.jobId,
      owner.attempt,
      owner.workerId,
      owner.fence,
    ).changes > 0
  );
}

/**
 * A person's word that whatever another host or pid namespace ran for this queue is gone for good: its
 * workers and attempts count from now on as those of an earlier boot of `here`, which any worker reaps
 * without a signal. Gives how many attempts. No change of a job's state yet, and so no event.
 */
export function release(tx: Tx, here: HostIdentity): number {
  const elsewhere = 'host <> :host OR (boot_id = :bootId AND pid_namespace <> :pidNamespace)';
  const params = { ...here, released: 'released' };
  const set = 'SET host = :host, boot_id = :released';
  statement(tx.db, `UPDATE workers ${set} WHERE ${elsewhere}`).run(params);
  return statement(tx.db, `UPDATE attempts ${set} WHERE state = 'running' AND (${elsewhere})`).run(params).changes;
}

/**
 * First step of a reap: from here on the old owner can change nothing. It is no change of the job's
 * state and so no event; `reaped` follows when the attempt is closed.
 */
export function takeOver(tx: Tx, owner: Owner, reaperId: string): Owner | null {
  const { jobId, attempt, workerId, fence } = owner;
  const taken = statement(
    tx.db,
    `UPDATE job_runtime SET worker_id = ?, fence = fence + 1, lease_until = ?
     WHERE job_id = ? AND state = 'running' AND attempts = ? AND worker_id = ? AND fence = ?`,
  ).run(reaperId, tx.now + LEASE_MS, jobId, attempt, workerId, fence).changes;
  if (taken === 0) return null;
  statement(tx.db, 'UPDATE attempts SET worker_id = ?, fence = fence + 1 WHERE job_id = ? AND number = ?').run(
    reaperId,
    jobId,
    attempt,
  );
  return { jobId, attempt, workerId: reaperId, fence: fence + 1 };
}
