/** The append-only ledger as clients see it. */
import type { Attempt, Timestamp } from './job.ts';

export const EVENT_TYPES = [
  'added',
  'released',
  'claimed',
  'succeeded',
  'failed',
  'timed_out',
  'reaped',
  'retried',
  'rescheduled',
  'dead',
  'cancel_requested',
  'canceled',
  'slept',
  'checkpointed',
  'pruned',
  'lane_changed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** One row of `job_events`. Ids only grow and are never reused, so they serve as a cursor. */
export interface JobEvent {
  id: number;
  /** Null for `lane_changed`, which concerns no job. */
  jobId: number | null;
  attempt: number | null;
  type: EventType;
  at: Timestamp;
  workerId: string | null;
  detail: Record<string, unknown>;
}

/** One entry of a job's merged history. */
export type TimelineEntry =
  | { kind: 'event'; at: Timestamp; event: JobEvent }
  | { kind: 'attempt'; at: Timestamp; attempt: Attempt };
