/**
 * Rows as SQL gives them, and the wire's objects made of them. Everything here is pure; what a
 * job's row cannot tell alone (its needs, its environment's names, the situation of its lane)
 * comes in as an argument, gathered once per page.
 */
import type { EventType, JobEvent } from '../../shared/event.ts';
import type {
  Attempt,
  AttemptState,
  FailureReason,
  Job,
  JobState,
  Lane,
  NeedPolicy,
  Worker,
} from '../../shared/job.ts';
import { derivePhase, deriveWaitReason, iso } from './waiting.ts';
import type { LaneSituation, WorkerSituation } from './waiting.ts';

/** The columns of `jobs` that say what a job is. Objects and lists are JSON; flags are 0 or 1. */
export interface JobIdentity {
  id: number;
  lane: string;
  argv: string;
  cwd: string;
  label: string | null;
  tags: string;
  max_retries: number;
  max_crashes: number;
  retry_delay_ms: number;
  retry_max_delay_ms: number;
  timeout_ms: number | null;
  cancel_grace_ms: number;
  split: number;
  key: string | null;
  on_need_failure: NeedPolicy;
  rerun_of: number | null;
  environment_id: number;
  env: string;
}

/** A job from whichever side it is on, with what its newest attempt says. See queries/jobs.ts. */
export interface JobRow extends JobIdentity {
  created_at: number;
  state: JobState;
  priority: number;
  attempts: number;
  failures: number;
  crashes: number;
  next_run_at: number | null;
  due: number | null;
  backing_off: number | null;
  worker_id: string | null;
  cancel_requested_at: number | null;
  reason: FailureReason | null;
  finished_at: number | null;
  last_started_at: number | null;
  last_exit_code: number | null;
  last_signal: string | null;
  last_reason: FailureReason | null;
}

/** What a page of jobs shares. */
export interface JobContext {
  now: number;
  /** Ascending; those still open apart. */
  needs: ReadonlyMap<number, { all: number[]; open: number[] }>;
  /** Names of a captured environment, ascending, by its row's id. */
  envNames: ReadonlyMap<number, readonly string[]>;
  lanes: ReadonlyMap<string, LaneSituation>;
  workers: readonly WorkerSituation[];
}

export function toJob(row: JobRow, context: JobContext): Job {
  const needs = context.needs.get(row.id);
  const phase = derivePhase(row, context.now);
  const waits = row.state === 'queued' || row.state === 'blocked';
  const waiting = { phase, lane: row.lane, nextRunAt: row.next_run_at, openNeeds: needs?.open ?? [] };
  return {
    id: row.id,
    lane: row.lane,
    argv: JSON.parse(row.argv) as string[],
    cwd: row.cwd,
    label: row.label,
    tags: JSON.parse(row.tags) as Record<string, string>,
    priority: row.priority,
    state: row.state,
    phase,
    waitReason: deriveWaitReason(waiting, context.lanes.get(row.lane), context.workers),
    nextRunAt: waits && row.next_run_at !== null ? iso(row.next_run_at) : null,
    attempts: row.attempts,
    failures: row.failures,
    maxRetries: row.max_retries,
    crashes: row.crashes,
    maxCrashes: row.max_crashes,
    retryDelayMs: row.retry_delay_ms,
    retryMaxDelayMs: row.retry_max_delay_ms,
    timeoutMs: row.timeout_ms,
    cancelGraceMs: row.cancel_grace_ms,
    split: row.split === 1,
    key: row.key,
    needs: needs?.all ?? [],
    onNeedFailure: row.on_need_failure,
    rerunOf: row.rerun_of,
    envNames: mergeNames(context.envNames.get(row.environment_id) ?? [], row.env),
    createdAt: iso(row.created_at),
    startedAt: isoOrNull(row.last_started_at),
    finishedAt: isoOrNull(row.finished_at),
    exitCode: row.last_exit_code,
    signal: row.last_signal,
    failureReason: row.reason ?? row.last_reason,
    workerId: row.worker_id,
    cancelRequested: row.cancel_requested_at !== null,
  };
}

/** The captured names and the job's own, ascending. `overrides` is the job's JSON object. */
function mergeNames(captured: readonly string[], overrides: string): string[] {
  if (overrides === '{}') return [...captured];
  return [...new Set([...captured, ...Object.keys(JSON.parse(overrides) as Record<string, string>)])].sort();
}

export interface AttemptRow {
  job_id: number;
  number: number;
  state: AttemptState;
  worker_id: string;
  fence: number;
  pid: number | null;
  started_at: number;
  finished_at: number | null;
  exit_code: number | null;
  signal: string | null;
  reason: FailureReason | null;
  error: string | null;
  stdout_path: string | null;
  stderr_path: string | null;
  stdout_bytes: number | null;
  stderr_bytes: number | null;
}

export function toAttempt(row: AttemptRow): Attempt {
  return {
    jobId: row.job_id,
    number: row.number,
    state: row.state,
    workerId: row.worker_id,
    fence: row.fence,
    pid: row.pid,
    startedAt: iso(row.started_at),
    finishedAt: isoOrNull(row.finished_at),
    // A clock that stepped back between the two would make it negative.
    durationMs: row.finished_at === null ? null : Math.max(0, row.finished_at - row.started_at),
    exitCode: row.exit_code,
    signal: row.signal,
    failureReason: row.reason,
    error: row.error,
    stdoutPath: row.stdout_path,
    stderrPath: row.stderr_path,
    stdoutBytes: row.stdout_bytes,
    stderrBytes: row.stderr_bytes,
  };
}

export interface EventRow {
  id: number;
  job_id: number | null;
  attempt: number | null;
  event_type: EventType;
  at: number;
  worker_id: string | null;
  detail: string;
}

export function toEvent(row: EventRow): JobEvent {
  return {
    id: row.id,
    jobId: row.job_id,
    attempt: row.attempt,
    type: row.event_type,
    at: iso(row.at),
    workerId: row.worker_id,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  };
}

export interface LaneRow {
  name: string;
  slots: number;
  paused: number;
  pause_on_failure: number;
  timeout_ms: number | null;
  cancel_grace_ms: number | null;
  max_retries: number | null;
  retry_delay_ms: number | null;
  retry_max_delay_ms: number | null;
  running: number;
  queued: number;
  delayed: number;
  blocked: number;
}

/** `cameDue`: jobs counted as delayed whose time has come since. */
export function toLane(row: LaneRow, cameDue: number): Lane {
  return {
    name: row.name,
    slots: row.slots,
    paused: row.paused === 1,
    running: row.running,
    queued: row.queued,
    scheduled: row.delayed - cameDue,
    blocked: row.blocked,
    timeoutMs: row.timeout_ms,
    cancelGraceMs: row.cancel_grace_ms,
    maxRetries: row.max_retries,
    retryDelayMs: row.retry_delay_ms,
    retryMaxDelayMs: row.retry_max_delay_ms,
    pauseOnFailure: row.pause_on_failure === 1,
  };
}

export interface WorkerRow {
  id: string;
  kind: 'server' | 'work';
  pid: number;
  lanes: string | null;
  slots: number | null;
  concurrency: number;
  started_at: number;
  heartbeat_at: number;
  schema: number;
  running: number;
}

export function toWorker(row: WorkerRow): Worker {
  return {
    id: row.id,
    kind: row.kind,
    pid: row.pid,
    startedAt: iso(row.started_at),
    heartbeatAt: iso(row.heartbeat_at),
    lanes: row.lanes === null ? null : (JSON.parse(row.lanes) as string[]),
    running: row.running,
    concurrency: row.concurrency,
    schema: row.schema,
  };
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
