/** claim: give due jobs to a worker, in claim order, as many as it asked for. */
import { LanewayError } from '../../../shared/errors.ts';
import { LEASE_MS, MAX_SLOTS, MAX_TRANSITION_ROWS } from '../../../shared/limits.ts';
import type { Claimed, Tx } from '../api.ts';
import { statement } from '../statements.ts';
import { settle } from './dependents.ts';
import { record } from './events.ts';
import { promoteDue, refreshHead } from './heads.ts';

/** Part of a transaction's rows: the due jobs that it notes, and those it claims, cost theirs. */
const SETTLE_ROWS = MAX_TRANSITION_ROWS / 2;

interface Head {
  name: string;
  head_id: number;
}

/**
 * Claims up to `limit` jobs of the given lanes (null: every lane). A lane gives while it runs fewer
 * than its own slots and than the worker's `slots`, whoever runs them.
 * @throws CONFLICT when the worker is not registered: others took it for gone.
 */
export function claim(
  tx: Tx,
  args: { workerId: string; lanes: string[] | null; slots: number | null; limit: number },
): Claimed[] {
  if (statement(tx.db, 'SELECT 1 FROM workers WHERE id = ?').get(args.workerId) === undefined) {
    throw new LanewayError(
      'CONFLICT',
      `worker ${args.workerId} is not registered; another one took it for gone`,
      'Register it again',
    );
  }
  // Whoever claims also carries on what a large cascade left over.
  settle(tx, SETTLE_ROWS);
  promoteDue(tx);
  const claimed: Claimed[] = [];
  while (claimed.length < args.limit) {
    const head = firstHead(tx, args.lanes, args.slots);
    if (head === undefined) break;
    claimed.push(claimHead(tx, head, args.workerId));
  }
  return claimed;
}

/** The lane whose head is first of all that may be claimed: read off one partial index. */
function firstHead(tx: Tx, lanes: string[] | null, slots: number | null): Head | undefined {
  const ceiling = slots ?? MAX_SLOTS;
  const order = 'ORDER BY head_priority DESC, head_run_at, head_id LIMIT 1';
  const free = 'head_id IS NOT NULL AND paused = 0 AND running < slots AND running < ?';
  if (lanes === null) {
    return statement<Head>(tx.db, `SELECT name, head_id FROM lanes INDEXED BY lanes_claim WHERE ${free} ${order}`).get(
      ceiling,
    );
  }
  return statement<Head>(
    tx.db,
    `SELECT name, head_id FROM lanes WHERE ${free} AND name IN (SELECT value FROM json_each(?)) ${order}`,
  ).get(ceiling, JSON.stringify(lanes));
}

interface ClaimedRow {
  attempts: number;
  fence: number;
  next_run_at: number;
}

interface Identity {
  argv: string;
  cwd: string;
  env: string;
  content: string;
  umask: number;
  timeout_ms: number | null;
  cancel_grace_ms: number;
  split: number;
  instance: string;
}

function claimHead(tx: Tx, { name: lane, head_id: jobId }: Head, workerId: string): Claimed {
  const row = statement<ClaimedRow>(
    tx.db,
    `UPDATE job_runtime SET state = 'running', attempts = attempts + 1, fence = fence + 1, worker_id = ?, lease_until = ?
     WHERE job_id = ? AND state = 'queued' AND due = 1 RETURNING attempts, fence, next_run_at`,
  ).get(workerId, tx.now + LEASE_MS, jobId);
  const identity = statement<Identity>(
    tx.db,
    `SELECT j.argv, j.cwd, j.env, e.content, j.umask, j.timeout_ms, j.cancel_grace_ms, j.split,
       (SELECT value FROM meta WHERE key = 'instance') AS instance
     FROM jobs j JOIN environments e ON e.id = j.environment_id WHERE j.id = ?`,
  ).get(jobId);
  if (row === undefined || identity === undefined) {
    throw new LanewayError(
      'CORRUPT',
      `lane ${lane} names job ${jobId} as its first, which is not due`,
      'run `lane doctor --deep`',
    );
  }
  const { attempts: attempt, fence } = row;
  statement(
    tx.db,
    `INSERT INTO attempts (job_id, number, state, worker_id, fence, host, boot_id, pid_namespace, waiting_since, started_at)
     SELECT ?, ?, 'running', id, ?, host, boot_id, pid_namespace, ?, ? FROM workers WHERE id = ?`,
  ).run(jobId, attempt, fence, Math.min(row.next_run_at, tx.now), tx.now, workerId);
  refreshHead(tx, lane);
  record(tx, 'claimed', { jobId, attempt, workerId }, { fence, lane });
  return {
    jobId,
    attempt,
    workerId,
    fence,
    lane,
    argv: JSON.parse(identity.argv) as string[],
    cwd: identity.cwd,
    env: {
      ...(JSON.parse(identity.content) as Record<string, string>),
      ...(JSON.parse(identity.env) as Record<string, string>),
    },
    umask: identity.umask,
    timeoutMs: identity.timeout_ms,
    cancelGraceMs: identity.cancel_grace_ms,
    split: identity.split === 1,
    idempotencyKey: `${identity.instance}:${jobId}`,
  };
}
