/**
 * What every part of the extension shares: the queues of this window, the log, and one
 * disposal list. Commands, views and outputs get a {@link Laneway} and nothing else, so none
 * of them reads globals and each can be tested with a hand-made one.
 *
 * A part of the extension exports `Command`s and, when it has standing resources, a function
 * `(laneway: Laneway) => void` that pushes them onto `laneway.subscriptions`:
 * `output/index.ts` → `outputCommands`, `activateOutput`; `timeline/index.ts` →
 * `timelineCommands`, `activateTimeline`. `commands/index.ts` lists all commands.
 */
import type * as vscode from 'vscode';
import type { ErrorData } from '../../shared/errors.ts';
import type { Job } from '../../shared/job.ts';
import type { NotificationType, RequestType, Welcome } from '../../shared/protocol.ts';
import type { Settings } from './config.ts';
import type { JobCache } from './jobCache.ts';

/**
 * `off`: not started yet, or the server was stopped on purpose; the next request starts it.
 * `failed`: starting or reconnecting failed; `Queue.failure` says why.
 */
export type QueueState = 'off' | 'starting' | 'ready' | 'failed';

/** A job and where it lives. */
export interface JobHandle {
  queue: Queue;
  job: Job;
}

/** The queue of one root folder. Its connection is made on first use and remade when lost. */
export interface Queue {
  readonly folder: vscode.WorkspaceFolder;
  /** The folder's name as shown in the explorer. */
  readonly name: string;
  /** Absolute path of the folder, as the server is told it. */
  readonly root: string;
  readonly state: QueueState;
  /** Why `state` is `failed`, for people; else null. */
  readonly failure: ErrorData | null;
  /** What a start waits for, for people: an older server that first finishes its jobs; else null. */
  readonly waiting: string | null;
  /** The server was ended on purpose: views leave it off until the user asks for something. */
  readonly stopped: boolean;
  readonly onDidChangeState: vscode.Event<QueueState>;
  /** Fires after every (re)connect: follow subscriptions and cursors must be made anew. */
  readonly onDidConnect: vscode.Event<Welcome>;
  readonly welcome: Welcome | null;
  readonly cache: JobCache;
  /** Starts the server when needed. Rejects with a LanewayError. */
  connect(): Promise<void>;
  /** Connects first when needed. Rejects with a LanewayError, ENVIRONMENT when the connection broke meanwhile. */
  request<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R>;
  /** Dropped silently when not connected. */
  notify<P>(type: NotificationType<P>, params: P): void;
  /** The listener outlives reconnects; several may listen to one message. */
  on<P>(type: NotificationType<P>, listener: (params: P) => void): vscode.Disposable;
}

/** The extension of one window. */
export interface Laneway {
  readonly extension: vscode.ExtensionContext;
  /** Everything disposable the extension owns; emptied once, at deactivation. */
  readonly subscriptions: vscode.Disposable[];
  readonly log: vscode.LogOutputChannel;
  /** One per root folder on disk, in the folders' order; empty in an untrusted workspace. */
  queues(): readonly Queue[];
  readonly onDidChangeQueues: vscode.Event<void>;
  /** The queue of the folder that holds this path or URI. */
  queueFor(place: string | vscode.Uri | vscode.WorkspaceFolder): Queue | undefined;
  /** A setting of `laneway.*` as it is now. */
  settings: Settings;
  /** Tell that a job was added from this window: its ending concerns this window's person. */
  added(queue: Queue, job: Job): void;
  /**
   * Run something on behalf of the user: a failure becomes a message with a button and
   * `undefined`, never an unhandled rejection. `doing` completes "Laneway could not …".
   */
  attempt<T>(doing: string, work: () => Promise<T>): Promise<T | undefined>;
}

/** A job as a caller may name it: a tree node, a job, its id, `{queue, job}`, or nothing (ask). */
export type JobArgument = unknown;

/** One palette command. `run` may throw a LanewayError: the registrar shows it with a button. */
export interface Command {
  /** With its `laneway.` prefix. */
  id: string;
  /** Completes "Laneway could not …" in the message of a failure, e.g. `show the log`. */
  doing: string;
  run(laneway: Laneway, ...args: unknown[]): unknown;
}
