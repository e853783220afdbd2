/**
 * One root folder's queue as the rest of the extension sees it: connected on first use, taken
 * up again when lost, with listeners that outlive each connection. Loading the language client
 * costs more than all the rest of activation, so it is loaded with the first connection.
 */
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { type ErrorData, LanewayError, toErrorData } from '../../shared/errors.ts';
import { statePaths } from '../../shared/paths.ts';
import {
  EventsHint,
  Finishing,
  LogGrew,
  type NotificationType,
  type RequestType,
  Subscribe,
  type Welcome,
} from '../../shared/protocol.ts';
import type { ConnectionOptions, OlderServer, ServerConnection } from './connection.ts';
import type { Queue, QueueState } from './context.ts';
import { type Hint, JobCache } from './jobCache.ts';
import { tryDial } from './dial.ts';
import { blame } from './messages/tell.ts';
import { bundles, type Runtime } from './runtime.ts';
import { watchServerFile } from './serverWatch.ts';

export interface QueueOptions {
  folder: vscode.WorkspaceFolder;
  extension: vscode.ExtensionContext;
  log: vscode.LogOutputChannel;
  runtime: Runtime;
  env: NodeJS.ProcessEnv;
  /** An older server must end before this one's can start; `finished` resolves then. */
  onWaiting(queue: Queue, what: string, finished: Promise<void>): void;
  /** There is no connection and none is being made. Told once whoever asked had the time to tell it. */
  onFailure(error: unknown): void;
}

/** Dials of one start that may meet a dying server, and the pause after the first in milliseconds. */
const MAX_DIALS = 6;
const REDIAL_MS = 100;

export class FolderQueue implements Queue {
  readonly folder: vscode.WorkspaceFolder;
  readonly name: string;
  readonly root: string;
  readonly cache: JobCache;
  readonly #options: QueueOptions;
  readonly #stateEmitter = new vscode.EventEmitter<QueueState>();
  readonly #connectEmitter = new vscode.EventEmitter<Welcome>();
  readonly onDidChangeState = this.#stateEmitter.event;
  readonly onDidConnect = this.#connectEmitter.event;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  #state: QueueState = 'off';
  #failure: ErrorData | null = null;
  #welcome: Welcome | null = null;
  #connection: ServerConnection | null = null;
  #connecting: Promise<void> | null = null;
  #waiting: string | null = null;
  #stopped = false;
  #watch: { dispose(): void } | null = null;
  #disposed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.folder = options.folder;
    this.name = options.folder.name;
    this.root = realPath(options.folder.uri.fsPath);
    this.cache = new JobCache(
      (type, params) => this.request(type, params),
      (error) => options.log.warn(`${this.name}: reading jobs: ${toErrorData(error).message}`),
    );
    // After activation: watching costs more than the rest of making a queue.
    setImmediate(() => this.#lookOut(true));
  }

  get state(): QueueState {
    return this.#state;
  }
  get failure(): ErrorData | null {
    return this.#failure;
  }
  get welcome(): Welcome | null {
    return this.#welcome;
  }
  get waiting(): string | null {
    return this.#waiting;
  }
  /** The server was ended on purpose: only a wish of the user's starts it again. */
  get stopped(): boolean {
    return this.#stopped;
  }

  connect(): Promise<void> {
    if (this.#state === 'ready') return Promise.resolve();
    this.#connecting ??= (this.#state === 'starting' ? this.#reconnected() : this.#connect()).finally(
      () => (this.#connecting = null),
    );
    return this.#connecting;
  }

  async request<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R> {
    await this.connect();
    const connection = this.#connection;
    if (!connection) throw new LanewayError('ENVIRONMENT', 'the connection to the server was lost');
    return await connection.request(type, params, token);
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    this.#connection?.notify(type, params);
  }

  on<P>(type: NotificationType<P>, listener: (params: P) => void): vscode.Disposable {
    const listeners = this.#listeners.get(type.method) ?? new Set();
    this.#listeners.set(type.method, listeners);
    listeners.add(listener);
    return new vscode.Disposable(() => void listeners.delete(listener));
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#watch?.dispose();
    this.#watch = null;
    this.cache.dispose();
    const connection = this.#connection;
    this.#connection = null;
    await connection?.end();
    this.#stateEmitter.dispose();
    this.#connectEmitter.dispose();
    this.#listeners.clear();
  }

  async #connect(): Promise<void> {
    if (this.#disposed) throw new LanewayError('ENVIRONMENT', `the folder ${this.name} was closed`);
    this.#become('starting', null);
    this.#stopped = false;
    try {
      await this.#startConnection();
    } catch (error) {
      this.#connection = null;
      this.#become('failed', toErrorData(error));
      this.#tellFailure(error);
      throw error;
    }
  }

  /** The connection is being taken up again by itself: resolves or rejects with the outcome. */
  async #reconnected(): Promise<void> {
    const state = await new Promise<QueueState>((resolve) => {
      const listening = this.onDidChangeState((state) => {
        if (state === 'starting') return;
        listening.dispose();
        resolve(state);
      });
    });
    if (state === 'ready') return;
    const { code, message, hint } = this.#failure ?? { code: 'ENVIRONMENT', message: 'the server ended', hint: null };
    throw new LanewayError(code, message, hint);
  }

  /** Starts one, again when a dying server took the dial, and after an older one has ended. */
  async #startConnection(): Promise<void> {
    const { HandshakeLost, OlderServer, ServerConnection } = await import('./connection.ts');
    for (let nth = 1; ; nth += 1) {
      const connection = new ServerConnection(this.#connectionOptions());
      this.#connection = connection;
      try {
        await this.#ready(await connection.start());
        return;
      } catch (error) {
        if (error instanceof OlderServer) {
          await this.#outlive(error);
        } else if (error instanceof HandshakeLost && nth < MAX_DIALS) await delay(nth * REDIAL_MS);
        else throw error;
      }
    }
  }

  /** An older server ends when its jobs have: what is waited for can be seen meanwhile. */
  async #outlive({ message, finished }: OlderServer): Promise<void> {
    this.#waiting = message;
    this.#stateEmitter.fire(this.#state);
    this.#options.onWaiting(this, message, finished);
    await finished;
    this.#waiting = null;
    if (!this.#disposed) this.#stateEmitter.fire(this.#state);
  }

  #tellFailure(error: unknown): void {
    blame(error, this);
    setImmediate(() => {
      if (!this.#disposed) this.#options.onFailure(error);
    });
  }

  #connectionOptions(): ConnectionOptions {
    const { folder, extension, log, runtime, env } = this.#options;
    const { version } = extension.extension.packageJSON as { version: string };
    return {
      workspace: this.root,
      env,
      runtime,
      serverBundle: bundles(extension.extensionPath).server,
      version,
      log,
      folder,
      methods: [EventsHint.method, LogGrew.method, Finishing.method],
      onMessage: (method, params) => this.#onMessage(method, params),
      onReconnecting: () => this.#become('starting', null),
      onReconnected: (welcome) => {
        // A connection that breaks again meanwhile is told by `onReconnecting` or `onLost`.
        this.#ready(welcome).catch((error: unknown) => log.warn(`${this.name}: ${toErrorData(error).message}`));
      },
      onLost: (failure) => this.#onLost(failure),
      onHandshakeLost: () => this.#dialAnew(),
    };
  }

  /** Taking the connection up again failed on a dying server: begin from the start, and wait for that like for any start. */
  #dialAnew(): void {
    this.#connection = null;
    if (this.#disposed) return;
    // Told already.
    this.#connect().catch(() => undefined);
  }

  async #ready(welcome: Welcome): Promise<void> {
    const fresh = this.#welcome?.instance !== welcome.instance;
    this.#welcome = welcome;
    const connection = this.#connection;
    if (!connection) throw new LanewayError('ENVIRONMENT', 'the connection to the server was lost');
    const hint: Hint = { ...(await connection.request(Subscribe, null)), trouble: null };
    if (this.#disposed || this.#connection !== connection) return;
    this.#become('ready', null);
    this.cache.connected(hint, fresh);
    this.#connectEmitter.fire(welcome);
  }

  #onMessage(method: string, params: unknown): void {
    if (method === EventsHint.method) this.cache.takeHint(params as Hint);
    for (const listener of this.#listeners.get(method) ?? []) (listener as (params: unknown) => void)(params);
  }

  #onLost(failure: ErrorData | null): void {
    this.#connection = null;
    if (this.#disposed) return;
    this.#stopped = failure === null;
    this.#become(failure ? 'failed' : 'off', failure);
    if (failure) this.#tellFailure(new LanewayError(failure.code, failure.message, failure.hint));
  }

  #become(state: QueueState, failure: ErrorData | null): void {
    this.#failure = failure;
    if (this.#state === state || this.#disposed) return;
    this.#state = state;
    this.#options.log.info(`${this.name}: ${state}${failure ? ` (${failure.message})` : ''}`);
    this.#stateEmitter.fire(state);
    this.#lookOut(false);
  }

  /**
   * While there is no connection: nothing is started here, but a server that somebody else runs
   * is joined, so that its jobs are seen. `now` also looks at what runs already.
   */
  #lookOut(now: boolean): void {
    const alone = (): boolean => !this.#disposed && (this.#state === 'off' || this.#state === 'failed');
    if (!alone()) {
      this.#watch?.dispose();
      this.#watch = null;
      return;
    }
    const { env, log } = this.#options;
    const look = async (): Promise<void> => {
      const found = alone() ? await tryDial(statePaths(this.root, env)) : null;
      found?.destroy();
      if (found && alone()) await this.connect();
    };
    const tryLook = (): void => {
      look().catch((error: unknown) => log.debug(`looking for a server: ${toErrorData(error).message}`));
    };
    try {
      this.#watch ??= watchServerFile(statePaths(this.root, env).serverFile, tryLook);
    } catch (error) {
      log.debug(`looking for a server: ${toErrorData(error).message}`);
    }
    if (now) tryLook();
  }
}

function realPath(folder: string): string {
  try {
    return fs.realpathSync.native(folder);
  } catch {
    return folder;
  }
}
