/**
 * The store's contract. Reads are plain functions over a {@link Reader}; every change of state
 * is one of the transitions below, each run inside one `BEGIN IMMEDIATE` transaction by
 * {@link Store.write}, each writing its own events.
 *
 * Times inside the server are integers: milliseconds since the epoch (`now` is injected).
 */
import type { Database } from 'better-sqlite3';
import type { EventType, JobEvent, TimelineEntry } from '../../shared/event.ts';
import type {
  AddRequest,
  Attempt,
  AttemptState,
  Caller,
  Check,
  Checkpoint,
  Counts,
  Job,
  JobState,
  Lane,
  LaneSettings,
  QueueSettings,
  StateFilter,
  Worker,
} from '../../shared/job.ts';
import type { JobRef, JobResult, Selection, Span } from '../../shared/protocol.ts';

export interface Clock {
  /** Milliseconds since the epoch; may step. Orders nothing. */
  now(): number;
  /** Monotonic milliseconds, for leases and waits. */
  ticks(): number;
}

/** A connection for reading; statements are cached per connection. */
export interface Reader {
  readonly db: Database;
  readonly now: number;
}

/** An open immediate transaction. Only transitions receive one. */
export interface Tx extends Reader {
  /** Append one event; returns its id. */
  event(event: Omit<JobEvent, 'id' | 'at' | 'detail'> & { detail?: Record<string, unknown> }): number;
}

export interface Store {
  /** The database file. */
  readonly path: string;
  /** Identity of this database, made with it; changes when a damaged one is replaced. */
  readonly instance: string;
  readonly schema: number;
  /**
   * Run a transition. Calls that arrive together share one transaction, each under its
   * savepoint (a throw rolls back that call alone), and resolve after the commit. A busy
   * database is retried with jitter without blocking the event loop.
   */
  write<T>(transition: (tx: Tx) => T): Promise<T>;
  read<T>(query: (reader: Reader) => T): T;
  /** Called after each local commit that appended events. */
  onCommit(listener: () => void): () => void;
  /** `PRAGMA data_version`: moves when another connection committed. */
  dataVersion(): number;
  /** Idempotent. Pending writes are finished first. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** The workspace's state folder; holds `queue.db`. Created 0700. */
  folder: string;
  clock: Clock;
  /** Busy timeout of one try, ms; default 50. */
  busyMs?: number;
  /** Told of a damaged database that was set aside, or other trouble worth a line in the log. */
  warn?: (message: string) => void;
  /** Refuse instead of creating when there is no database. */
  mustExist?: boolean;
  /** Whether the process of a worker is gone for sure, though it showed life within a lease: then it holds up no migration. */
  isGone?: (worker: HostIdentity & ProcessIdentity) => Promise<boolean>;
  /** Tests only: told of each instant in which dying must be safe. */
  point?: StorePoint;
}

/**
 * Instants of the store: `commit:before` and `commit:after` of every transaction of the writer, and the
 * same with the type of each event it wrote; a new file made but empty; around a migration's commit.
 */
export type StoreInstant =
  | `commit:${'before' | 'after'}`
  | `commit:${'before' | 'after'}:${EventType}`
  | 'open:made'
  | 'migrate:before'
  | 'migrate:after';
export type StorePoint = (name: StoreInstant) => void;

/** server/store/open.ts */
export type OpenStore = (options: OpenOptions) => Promise<Store>;

/** Who owns a running job: every finishing write names all four, and zero rows changed is an answer. */
export interface Owner {
  jobId: number;
  attempt: number;
  workerId: string;
  fence: number;
}

/** What identifies a process beyond its reusable pid. */
export interface ProcessIdentity {
  pid: number;
  /** Opaque start time: clock ticks since boot on Linux. */
  startTime: string | null;
}

/** Where a worker runs; pids mean nothing across a change of any of these. */
export interface HostIdentity {
  host: string;
  bootId: string;
  pidNamespace: string;
}

export interface WorkerRegistration extends HostIdentity, ProcessIdentity {
  id: string;
  kind: 'server' | 'work';
  lanes: string[] | null;
  slots: number | null;
  concurrency: number;
}

/** A registered worker and its pulse. */
export interface Registration extends Omit<WorkerRegistration, 'kind' | 'lanes' | 'slots' | 'concurrency'> {
  /** Counter raised by each heartbeat: moves even when the wall clock steps. */
  heartbeats: number;
}

/** A claimed job with all that is needed to run it. */
export interface Claimed extends Owner {
  lane: string;
  argv: string[];
  cwd: string;
  /** The captured environment with the job's overrides applied. */
  env: Record<string, string>;
  umask: number;
  timeoutMs: number | null;
  cancelGraceMs: number;
  split: boolean;
  /** Instance and job: stable across attempts. */
  idempotencyKey: string;
}

/** Bytes of an attempt's logs; null when unknown. The same file counts for both unless split. */
export interface LogSizes {
  stdoutBytes: number | null;
  stderrBytes: number | null;
}

/** How an attempt ended, as the worker saw it. */
export interface AttemptEnd extends LogSizes {
  kind: 'exited' | 'timed_out' | 'log_limit' | 'spawn_failed' | 'machine_trouble' | 'stopped';
  exitCode: number | null;
  signal: string | null;
  /** For a person: why it could not start, what the machine lacked. */
  error: string | null;
  /** False when exit 0 was seen before any signal was sent. */
  signalled: boolean;
}

/** What a finishing write did. */
export type FinishResult =
  | { applied: false }
  | {
      applied: true;
      attemptState: AttemptState;
      jobState: JobState;
      /** There is more to settle than one transaction may touch: call `settle` until it returns false. */
      settleMore: boolean;
    };

/** An attempt whose worker may be gone, with what is needed to find its processes and to kill them. */
export interface RunningAttempt extends Owner, HostIdentity {
  pid: number | null;
  pidStartTime: string | null;
  cancelGraceMs: number;
}

/**
 * server/store/transitions/*.ts — the only writers of job state.
 * Ids that do not exist, and states that do not fit, come back as per-id errors, not throws,
 * where the result has room for them.
 */
export interface Transitions {
  /** Validated requests in; all or none. Throws INVALID_INPUT (also for a need that does not exist) and KEY_CONFLICT. */
  add(tx: Tx, requests: AddRequest[], caller: Caller): { ids: number[]; deduplicated: number[] };
  /** Fill up to `limit` free slots in claim order. */
  claim(tx: Tx, args: { workerId: string; lanes: string[] | null; slots: number | null; limit: number }): Claimed[];
  /**
   * Record the process and its log files once it runs. False: ownership was lost. A reaper calls
   * it too, for an attempt whose worker died before it could: the pid is null when it had ended.
   */
  started(
    tx: Tx,
    owner: Owner,
    process: { pid: number | null; startTime: string | null; stdoutPath: string; stderrPath: string },
  ): boolean;
  finish(tx: Tx, owner: Owner, end: AttemptEnd): FinishResult;
  /**
   * The first jobs of the selection, as many as one transaction may touch. With `more`, ask again with
   * the ids after the first `results.length`; then call `settle` until it returns false. So for `retry`.
   */
  cancel(tx: Tx, selection: Selection): { results: (JobResult & { wasRunning: boolean })[]; more: boolean };
  retry(
    tx: Tx,
    args: { selection: Selection; force: boolean; withDependents: boolean },
  ): { results: JobResult[]; more: boolean };
  /** With `more`, ask again with the jobs after the first `results.length`. So for `bump`. */
  rerun(tx: Tx, jobs: JobRef[]): { ids: number[]; results: JobResult[]; more: boolean };
  bump(
    tx: Tx,
    args: { jobs: JobRef[]; priority: number | null; now: boolean },
  ): { results: JobResult[]; more: boolean };
  /** Settle, release or bring back dependents left over by the row limit; true: call again. */
  settle(tx: Tx, rows?: number): boolean;
  registerWorker(tx: Tx, worker: WorkerRegistration): void;
  /** Renew all leases of a worker in one statement. False: the worker's row is gone (reaped). */
  heartbeat(tx: Tx, workerId: string): boolean;
  /** Remove a worker that owns nothing. */
  removeWorker(tx: Tx, workerId: string): void;
  /** A running worker goes by another limit from now on. */
  setConcurrency(tx: Tx, workerId: string, concurrency: number): void;
  /** Reap step 1: ownership moves to the reaper, fence+1 on both rows. Null: it was finished or taken meanwhile. */
  takeOver(tx: Tx, owner: Owner, reaperId: string): Owner | null;
  /** What runs on another host or in another pid namespace than `here` is gone, says a person. Gives how many attempts. */
  release(tx: Tx, here: HostIdentity): number;
  /** Reap step 3, after the group is confirmed gone. */
  closeReaped(tx: Tx, owner: Owner, sizes?: LogSizes): FinishResult;
  setLane(tx: Tx, name: string, settings: LaneSettings): void;
  removeLane(tx: Tx, name: string): Lane;
  pause(tx: Tx, lanes: string[]): void;
  resume(tx: Tx, lanes: string[]): void;
  setSettings(tx: Tx, settings: Partial<QueueSettings>): void;
  /** In-job: store a stage's stdout. Throws CONFLICT for a stale fence, INVALID_INPUT over the limit. */
  checkpoint(tx: Tx, owner: Owner, name: string, stdout: Uint8Array): void;
  /** In-job: record a durable sleep. `elapsed` true: this sleep is over, go on. */
  sleep(tx: Tx, owner: Owner, name: string, durationMs: number): { elapsed: boolean; until: number };
  /**
   * One bounded step of pruning: rows first, the log files named are the caller's to delete
   * afterwards and are remembered until `prunedFiles` confirms them. Takes terminal jobs of
   * `states` that ended before `before`, and with `overBytes` also the oldest while the logs kept
   * are more bytes than that limit. The same arguments again while `more`.
   */
  prune(
    tx: Tx,
    args: { before: number; states: StateFilter[]; maxJobs: number; overBytes: number | null },
  ): { ids: number[]; files: string[]; bytes: number; more: boolean };
  /** The files of pruned jobs are gone from disk. */
  prunedFiles(tx: Tx, files: string[]): void;
  /** Drop `pruned` events older than a further retention age. */
  pruneLedger(tx: Tx, before: number, maxRows: number): boolean;
}

/** What a page of jobs is to hold. */
export interface ListArgs {
  states?: StateFilter[] | null;
  lane?: string | null;
  tags?: Record<string, string> | null;
  key?: string | null;
  /** Case-insensitive part of id, label or command. */
  text?: string | null;
  ids?: number[] | null;
  /** 1 … `MAX_LIST`. */
  limit: number;
  cursor?: string | null;
  order?: 'newest' | 'claim' | null;
}

/** server/store/queries/*.ts — reads only. */
export interface Queries {
  /** Throws NOT_FOUND, or INVALID_INPUT for something that is no reference. */
  resolve(r: Reader, ref: JobRef): number;
  job(r: Reader, id: number): Job | null;
  /** In the order of `ids`; those that do not exist are left out. */
  jobs(r: Reader, ids: number[]): Job[];
  /**
   * One page. Work is bounded: with `tags`, `text` or `key` a page may hold fewer than `limit` jobs
   * (even none) and still name a `nextCursor`: ask on until there are enough or it is null.
   * `order: 'claim'` lists waiting jobs only: the due ones, then the delayed, then the blocked.
   * Throws INVALID_INPUT for a cursor that no page gave.
   */
  list(r: Reader, args: ListArgs): { jobs: Job[]; nextCursor: string | null };
  /** Ids a selection means, in id order, at most `limit`; with `after`, only greater ones. */
  select(r: Reader, selection: Selection, limit: number, after?: number): number[];
  attempts(r: Reader, jobId: number): Attempt[];
  attempt(r: Reader, jobId: number, number: number | null): Attempt | null;
  needs(r: Reader, jobId: number): Job[];
  neededBy(r: Reader, jobId: number): Job[];
  /** Finished stages and durable sleeps, oldest first. */
  checkpoints(r: Reader, jobId: number): Checkpoint[];
  checkpointOutput(r: Reader, jobId: number, name: string): Uint8Array | null;
  env(r: Reader, jobId: number): Record<string, string>;
  /** Kept, not counted: constant cost at a million jobs. */
  counts(r: Reader): { counts: Counts; scheduled: number; retrying: number };
  lanes(r: Reader): Lane[];
  lane(r: Reader, name: string): Lane | null;
  workers(r: Reader): Worker[];
  events(
    r: Reader,
    args: { since: number; jobId: number | null; limit: number },
  ): { events: JobEvent[]; cursor: number };
  cursor(r: Reader): number;
  timeline(
    r: Reader,
    args: { jobId: number; cursor: string | null; limit: number },
  ): { entries: TimelineEntry[]; nextCursor: string | null };
  spans(r: Reader, args: { from: number; to: number; limit: number }): { spans: Span[]; truncated: boolean };
  settings(r: Reader): QueueSettings;
  /** Due time of the next job that is not yet due in a lane that could take it; null: none. */
  nextDue(r: Reader, lanes: string[] | null): number | null;
  runningAttempts(r: Reader): RunningAttempt[];
  /** Every registered worker as it registered, with its pulse; those that were killed included. */
  registrations(r: Reader): Registration[];
  /** Every running job this worker owns now. What it runs and is not here (or has another fence) has moved. */
  ownedState(
    r: Reader,
    workerId: string,
  ): { jobId: number; attempt: number; fence: number; cancelRequested: boolean }[];
  /** Something is blocked, queued or running. */
  anyLive(r: Reader): boolean;
  /** True while work of these lanes is running, retrying, or due in a lane that is not paused. */
  drainable(r: Reader, lanes: string[] | null): boolean;
  /** Files of pruned jobs still to delete. */
  filesToDelete(r: Reader, limit: number): string[];
  /** Bytes of logs the rows know of. */
  logBytes(r: Reader): number;
  /** What `prune` by age would delete, one bounded page: add up until `nextCursor` is null. */
  prunable(
    r: Reader,
    args: { before: number; states: StateFilter[]; limit: number; cursor: string | null },
  ): { jobs: number; bytes: number; nextCursor: string | null };
  /** Every invariant. */
  check(r: Reader, deep: boolean): Check[];
}
