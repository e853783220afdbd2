/**
 * What the server's bundle offers to a client that runs it in its own process (`--direct`,
 * `lane work`, the in-job verbs, `doctor`). Clients never import the server: they load
 * `dist/server.js` at run time and know it by this interface alone.
 */
import type { Connection } from './connection.ts';
import type { Attempt, Check, JobState, Workspace } from './job.ts';
import type { Env } from './paths.ts';

export interface WorkOptions {
  workspace: string;
  lanes: string[] | null;
  slots: number | null;
  concurrency: number | null;
  /** Run one job, then end. */
  once: boolean;
  /** End when the worker's lanes hold nothing running, retrying or due. */
  drain: boolean;
  idleTimeoutMs: number | null;
  /** Called for every attempt that ended here. */
  onFinished(line: {
    jobId: number;
    attempt: number;
    state: Attempt['state'];
    exitCode: number | null;
    durationMs: number;
    jobState: JobState;
  }): void;
  /** First abort: drain (no new claims). Second: stop the jobs' groups with their grace. */
  drainSignal: AbortSignal;
  stopSignal: AbortSignal;
}

/** The running job a process finds itself in, from `LANEWAY_*`. */
export interface InJob {
  workspace: string;
  jobId: number;
  attempt: number;
  fence: number;
  workerId: string;
}

export interface ServerModule {
  /** A session in this process: the same handlers, no socket. With `execute` its jobs run here too, until it closes. */
  openDirect(options: { workspace: string; execute: boolean }): Promise<Connection>;
  work(options: WorkOptions): Promise<void>;
  /** Checks what can be checked even when the database cannot be opened. */
  doctor(options: { workspace: string; deep: boolean }): Promise<{ ok: boolean; checks: Check[] }>;
  /** The stored stdout of a finished stage, else null. */
  readCheckpoint(job: InJob, name: string): Promise<Uint8Array | null>;
  writeCheckpoint(job: InJob, name: string, stdout: Uint8Array): Promise<void>;
  /** Record a durable sleep; `elapsed` when it is over and the job may go on. */
  recordSleep(job: InJob, name: string, durationMs: number): Promise<{ elapsed: boolean; until: number }>;
  /**
   * Kill the queue's server, for one that does not answer; resolves when it is gone. Null: none runs.
   * Throws ENVIRONMENT when it cannot be told for sure which process it is.
   */
  killServer(options: { workspace: string }): Promise<{ pid: number } | null>;
  /** Every workspace that has a queue under the state home, by path. Starts no server. */
  workspacesList(options: { env: Env }): Promise<Workspace[]>;
  /**
   * The queue of `from` becomes that of `to`: after a project was moved or renamed. A server that still
   * runs on it is asked to end first. Throws NOT_FOUND (no queue there) and CONFLICT (live work, or a queue at `to`).
   */
  workspacesMove(options: { from: string; to: string; env: Env }): Promise<Workspace>;
  /** Delete a queue with its logs. Throws NOT_FOUND, and CONFLICT while something runs. */
  workspacesRemove(options: { path: string; env: Env }): Promise<Workspace>;
  /** Let the different folder that now stands at an old path have the queue found there. */
  workspacesAdopt(options: { path: string; env: Env }): Promise<Workspace>;
  /**
   * What other machines or containers ran for this queue is gone for good, a person says: from now on its jobs
   * may be taken up here. Throws NOT_FOUND, and CONFLICT while a server has the queue.
   */
  workspacesRelease(options: { path: string; env: Env }): Promise<Workspace>;
}
