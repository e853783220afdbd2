/**
 * What each event says, beyond its type: the words of the ledger in one place, for those who write
 * it (the transitions) and those who read it (`doctor --deep` replays a job's events along the
 * state machine of index.ts; timelines put them into sentences). Times are ISO 8601, like
 * everywhere outside of the store.
 *
 * A job's path: `added` enters `state`; `released` and `slept` enter queued; `claimed` enters
 * running and opens attempt `attempt`; `succeeded` enters done; `retried` enters `state`; `dead`
 * and `canceled` enter the state of their name; `pruned` ends the path. `failed`, `timed_out` and
 * `reaped` close the attempt and leave the job running for a moment: the very next event of the
 * job, in the same transaction, is `retried`, `dead` or `canceled`. `cancel_requested` and
 * `checkpointed` stay running, `rescheduled` stays blocked or queued.
 */
import type { EventType } from '../../../shared/event.ts';
import type { FailureReason, Timestamp } from '../../../shared/job.ts';
import type { Tx } from '../api.ts';

/** How an attempt ended. */
export interface EndDetail {
  reason: FailureReason | null;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
}

export interface Details {
  added: {
    state: 'blocked' | 'queued';
    lane: string;
    priority: number;
    /** Only when it was delayed. */
    nextRunAt?: Timestamp;
    needs?: number[];
    rerunOf?: number;
    /** A rerun in the place of a canceled job: brought back together with this prerequisite. */
    withNeed?: number;
  };
  /** The prerequisite whose end released it. */
  released: { need: number };
  claimed: { fence: number; lane: string };
  succeeded: { exitCode: 0 };
  failed: EndDetail;
  timed_out: EndDetail;
  /** `fence` is the reaper's: the one that closed the attempt. */
  reaped: { fence: number; reason: 'worker_crash' | 'canceled' };
  retried: {
    state: 'queued' | 'blocked';
    /** By policy, or by a person. Exactly one of the two is true. */
    automatic: boolean;
    manual: boolean;
    /**
     * Of an automatic one, what was spent: a retry, a tolerated crash, or nothing, because the
     * machine could not start it or the worker was stopped.
     */
    because?: 'failure' | 'crash' | 'machine_trouble' | 'stopped';
    /** Of a manual one: the running attempt was cancelled for it. */
    forced?: true;
    /** Of a manual one: revived together with this prerequisite. */
    withNeed?: number;
    /** Only when it is due later. */
    nextRunAt?: Timestamp;
  };
  rescheduled: { priority?: number; from?: number; now?: true };
  dead: { reason: FailureReason; need?: number };
  /** `retry`: the attempt is cancelled so that the job runs again. */
  cancel_requested: { retry: boolean };
  canceled: { from: 'blocked' | 'queued' | 'running'; reason: 'canceled' | 'dependency'; need?: number };
  /** The name of the sleep, and when it is over. */
  slept: { name: string; until: Timestamp };
  checkpointed: { name: string; bytes: number };
  pruned: Record<string, unknown>;
  lane_changed: {
    lane: string;
    change: 'created' | 'set' | 'removed' | 'paused' | 'resumed';
    /** The job whose death paused it. */
    by?: number;
    settings?: Record<string, unknown>;
  };
}

/** Whom an event concerns. */
export interface Concerning {
  jobId: number;
  attempt?: number | null;
  workerId?: string | null;
}

/** Append an event of a job. */
export function record<T extends Exclude<EventType, 'lane_changed'>>(
  tx: Tx,
  type: T,
  { jobId, attempt = null, workerId = null }: Concerning,
  detail: Details[T],
): void {
  tx.event({ jobId, attempt, type, workerId, detail: detail as Record<string, unknown> });
}

/** Append an event of a lane. */
export function recordLane(tx: Tx, detail: Details['lane_changed']): void {
  tx.event({ jobId: null, attempt: null, type: 'lane_changed', workerId: null, detail: { ...detail } });
}

export const iso = (at: number): Timestamp => new Date(at).toISOString();
