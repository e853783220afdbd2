/**
 * The objects every layer speaks of: jobs, attempts, lanes, workers, the server.
 * These are the JSON shapes of `--json` and of the protocol, field for field:
 * times are ISO 8601 UTC with milliseconds, durations are integers in `…Ms`,
 * absent values are null and never missing.
 */

/** A moment: ISO 8601 UTC with milliseconds. */
export type Timestamp = string;

/** The stored states of a job, and no others. */
export const JOB_STATES = ['blocked', 'queued', 'running', 'done', 'dead', 'canceled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** States that live in `job_runtime`. */
export const LIVE_STATES = ['blocked', 'queued', 'running'] as const;
export type LiveState = (typeof LIVE_STATES)[number];

/** States that live in `job_outcomes`. */
export const TERMINAL_STATES = ['done', 'dead', 'canceled'] as const;
export type TerminalState = (typeof TERMINAL_STATES)[number];

export function isTerminal(state: JobState): state is TerminalState {
  return state === 'done' || state === 'dead' || state === 'canceled';
}

/** What a query derives from a state and the clock; never stored. */
export type Phase = JobState | 'scheduled' | 'retrying' | 'ready';

/** Words a state filter takes: states, phases, and the words of neighbouring tools. */
export const STATE_FILTERS = [
  ...JOB_STATES,
  'scheduled',
  'retrying',
  'ready',
  'active',
  'succeeded',
  'cancelled',
  'failed',
] as const;
export type StateFilter = (typeof STATE_FILTERS)[number];

export type AttemptState = 'running' | 'succeeded' | 'failed' | 'timed_out' | 'abandoned' | 'canceled';

export type FailureReason =
  | 'process_exit'
  | 'timeout'
  | 'spawn_failed'
  | 'worker_crash'
  | 'canceled'
  | 'dependency'
  | 'log_limit'
  | 'unknown';

/** What becomes of a blocked job whose prerequisite ended dead or canceled. */
export const NEED_POLICIES = ['cancel', 'dead', 'release'] as const;
export type NeedPolicy = (typeof NEED_POLICIES)[number];

export interface Job {
  id: number;
  lane: string;
  argv: string[];
  cwd: string;
  label: string | null;
  tags: Record<string, string>;
  priority: number;
  state: JobState;
  phase: Phase;
  /** Why a waiting job waits, in words; null when it does not wait. */
  waitReason: string | null;
  nextRunAt: Timestamp | null;
  /** How many attempts there are. */
  attempts: number;
  failures: number;
  maxRetries: number;
  crashes: number;
  maxCrashes: number;
  retryDelayMs: number;
  retryMaxDelayMs: number;
  timeoutMs: number | null;
  cancelGraceMs: number;
  split: boolean;
  key: string | null;
  needs: number[];
  onNeedFailure: NeedPolicy;
  rerunOf: number | null;
  /** Names of the environment variables captured at add; values only by `show --env`. */
  envNames: string[];
  createdAt: Timestamp;
  /** Start of the newest attempt. */
  startedAt: Timestamp | null;
  finishedAt: Timestamp | null;
  /** The last attempt's. */
  exitCode: number | null;
  /** The last attempt's. */
  signal: string | null;
  /** The job's if it ended so, else the last attempt's. */
  failureReason: FailureReason | null;
  workerId: string | null;
  cancelRequested: boolean;
}

export interface Attempt {
  jobId: number;
  number: number;
  state: AttemptState;
  workerId: string;
  fence: number;
  pid: number | null;
  startedAt: Timestamp;
  finishedAt: Timestamp | null;
  durationMs: number | null;
  exitCode: number | null;
  signal: string | null;
  failureReason: FailureReason | null;
  error: string | null;
  stdoutPath: string | null;
  /** The same file as `stdoutPath` unless the job is split. */
  stderrPath: string | null;
  stdoutBytes: number | null;
  stderrBytes: number | null;
}

export interface Lane {
  name: string;
  slots: number;
  paused: boolean;
  running: number;
  /** Every queued job of the lane, delayed ones included. */
  queued: number;
  /** The delayed part of `queued`. */
  scheduled: number;
  blocked: number;
  timeoutMs: number | null;
  cancelGraceMs: number | null;
  maxRetries: number | null;
  retryDelayMs: number | null;
  retryMaxDelayMs: number | null;
  pauseOnFailure: boolean;
}

/** What may be set of a lane; absent leaves a value, null returns it to "not set". */
export interface LaneSettings {
  slots?: number | null;
  timeoutMs?: number | null;
  cancelGraceMs?: number | null;
  maxRetries?: number | null;
  retryDelayMs?: number | null;
  retryMaxDelayMs?: number | null;
  pauseOnFailure?: boolean | null;
}

/** Settings of the queue as a whole, kept in its database so that every client sees the same. */
export interface QueueSettings {
  /** Jobs the server runs at once; null: one per core. */
  concurrency: number | null;
  retentionMs: number;
  retentionBytes: number;
  /** Bytes of output after which an attempt is stopped. */
  logLimit: number;
  serverIdleMs: number;
}

export interface Worker {
  id: string;
  kind: 'server' | 'work';
  pid: number;
  startedAt: Timestamp;
  heartbeatAt: Timestamp;
  /** The lanes it serves; null for every lane. */
  lanes: string[] | null;
  running: number;
  concurrency: number;
  schema: number;
}

export interface Server {
  running: boolean;
  pid: number | null;
  version: string | null;
  protocol: number | null;
  workspace: string;
  socket: string | null;
  database: string;
  /** The folder of attempt logs. */
  logs: string;
  uptimeMs: number | null;
  clients: number | null;
}

/** A stage that ran to its end, or a durable sleep. */
export interface Checkpoint {
  name: string;
  /** The attempt that recorded it, or that slept. */
  attempt: number;
  at: Timestamp;
  /** Stored stdout; a sleep has none: 0. */
  bytes: number;
  kind: 'stage' | 'sleep';
  /** Of a sleep: when it is over, or was; else null. */
  until: Timestamp | null;
}

export interface Workspace {
  path: string;
  state: 'present' | 'missing';
  database: string;
  counts: Counts | null;
  serverPid: number | null;
}

/** Jobs by state. `failed` is a reserved name and always 0. */
export interface Counts {
  blocked: number;
  queued: number;
  running: number;
  done: number;
  failed: 0;
  dead: number;
  canceled: number;
}

/** Everything `status` tells. `retrying` ⊂ `scheduled` ⊂ `counts.queued`. */
export interface Status {
  counts: Counts;
  scheduled: number;
  retrying: number;
  lanes: Lane[];
  workers: Worker[];
  server: Server;
}

/** One check of `doctor`. */
export interface Check {
  id: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint: string | null;
}

/**
 * What a caller asks of `add`, before validation: the flags of `lane add` in camelCase.
 * Absent and null mean "not given": the lane's default, else the product's, applies.
 */
export interface AddRequest {
  argv?: string[] | null;
  /** Shell text instead of `argv`. Becomes `["sh","-c",text]`, or the user's shell on Windows. */
  command?: string | null;
  lane?: string | null;
  priority?: number | null;
  afterMs?: number | null;
  at?: Timestamp | null;
  timeoutMs?: number | null;
  maxRetries?: number | null;
  maxCrashes?: number | null;
  retryDelayMs?: number | null;
  retryMaxDelayMs?: number | null;
  cancelGraceMs?: number | null;
  /** Absolute when it reaches the server. */
  cwd?: string | null;
  /** Overrides on top of the captured environment. */
  env?: Record<string, string> | null;
  label?: string | null;
  tags?: Record<string, string> | null;
  key?: string | null;
  /**
   * Ids, `last` or `label:NAME` (of the jobs there were before this request), or in a batch `{line}`:
   * the 1-based number of an earlier line.
   */
  needs?: (number | string | { line: number })[] | null;
  onNeedFailure?: NeedPolicy | null;
  split?: boolean | null;
}

/** What of the caller a job inherits: captured once per request. */
export interface Caller {
  env: Record<string, string>;
  /** Octal file mode mask as a number, 0…0o777. */
  umask: number;
}
