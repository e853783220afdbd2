/** What a worker is told, and what it offers. */
import type { AttemptState, JobState } from '../../shared/job.ts';
import type { Clock, HostIdentity, Store } from '../store/api.ts';
import type { Point } from './points.ts';

/** Where a worker's files and a job's environment point to. */
export interface WorkerPaths {
  workspace: string;
  /** `$LANEWAY_HOME` or its default. */
  home: string;
  /** The workspace's folder of attempt logs. */
  logs: string;
  /** The folder that holds `lane`; first on a job's PATH. Null: PATH stays as captured. */
  laneFolder: string | null;
}

/** One attempt that ended here: the line that `lane work --json` prints. */
export interface FinishedLine {
  jobId: number;
  attempt: number;
  state: AttemptState;
  exitCode: number | null;
  durationMs: number;
  jobState: JobState;
}

export interface WorkerOptions {
  store: Store;
  clock: Clock;
  host: HostIdentity;
  paths: WorkerPaths;
  kind: 'server' | 'work';
  /** The lanes it serves; null for every lane. */
  lanes: string[] | null;
  /** Ceiling per lane on top of the lane's own; null: none. */
  slots: number | null;
  /** Jobs it runs at once. */
  concurrency: number;
  /** Attempts it starts in its whole life (`lane work --once`: 1). Null or absent: no limit. */
  maxAttempts?: number | null;
  /** Bytes of output after which an attempt is stopped; asked at each start. */
  logLimit: () => number;
  /** Trouble of the machine a person should know, in words; null once it is over. */
  onTrouble?: (trouble: string | null) => void;
  onFinished?: (line: FinishedLine) => void;
  /** Nothing runs here, and the last claim found nothing: the moment to ask whether to go on. */
  onIdle?: () => void;
  /** A line for the server's log. */
  log?: (message: string) => void;
  /** Named instants, see points.ts. */
  point?: Point;
}

export interface WorkerHandle {
  readonly id: string;
  /**
   * Register, look for what other workers left behind, begin to claim. Idempotent.
   * @throws LanewayError ENVIRONMENT when jobs of this database run on another host or in another
   * pid namespace.
   */
  start(): Promise<void>;
  /**
   * The database changed (any commit, by any process): claim what can run, carry out cancels.
   * Cheap, coalesced, callable at any time.
   */
  wake(): void;
  /** Claim no more; resolves when nothing runs here. Idempotent. */
  drain(): Promise<void>;
  /**
   * Drain (`graceful`), or stop the jobs' groups with their grace and hand the jobs back to the
   * queue; then take the worker off the list. May be called again with `graceful: false`. Resolves
   * when all of it is written.
   */
  stop(options: { graceful: boolean }): Promise<void>;
  /** How many attempts run here. */
  running(): number;
  /** The setting changed. */
  setConcurrency(concurrency: number): void;
}
