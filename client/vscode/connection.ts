/**
 * The connection of one root folder's queue. A LanguageClient speaks with the server over its
 * socket; reaching the server (dial, else start) happens inside its ServerOptions, so the
 * client's own restart of a closed connection is a reconnect. A start that failed is final for
 * a LanguageClient, so the next request makes another one.
 */
import fs from 'node:fs';
import type net from 'node:net';
import type * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
  State,
} from 'vscode-languageclient/node';
import { type ErrorData, LanewayError, toErrorData } from '../../shared/errors.ts';
import {
  Finishing,
  type Hello,
  type Mismatch,
  type NotificationType,
  PROTOCOL,
  type RequestType,
  type Welcome,
} from '../../shared/protocol.ts';
import { dialOrStart } from '../../shared/connect.ts';
import { type Runtime, runtimeEnv } from './runtime.ts';

export interface ConnectionOptions {
  /** Real path of the folder. */
  workspace: string;
  env: NodeJS.ProcessEnv;
  runtime: Runtime;
  /** Path of `dist/server.js`. */
  serverBundle: string;
  /** Of the extension, for messages. */
  version: string;
  log: vscode.LogOutputChannel;
  folder: vscode.WorkspaceFolder;
  /** The connection broke and is being made again. */
  onReconnecting(): void;
  onReconnected(welcome: Welcome): void;
  /** Taking the connection up again met a dying server: it is worth dialling anew. */
  onHandshakeLost(): void;
  /** The session ended for good. `failure` is null when the server said goodbye. */
  onLost(failure: ErrorData | null): void;
  /** A message arrived. */
  onMessage(method: string, params: unknown): void;
  /** Methods to listen to. */
  methods: readonly string[];
  /** How long what listens may take to greet back, in milliseconds; 30 s by default. */
  welcomeMs?: number;
}

/** A server is local, and answers before it works. */
const WELCOME_MS = 30_000;

/** Closed connections in this many milliseconds after which no more restarts are tried. */
const RESTART_WINDOW_MS = 180_000;
const MAX_RESTARTS = 5;

/** Its notices go to the log: every failure is told once, with a button, by whoever asked. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/**
 * The server went away between accepting and answering: a dying process still accepts for a
 * moment. Whoever dials again finds the next one.
 */
const HANDSHAKE_LOST: ErrorData = {
  code: 'ENVIRONMENT',
  message: 'the server ended before it answered',
  hint: null,
};

/** Something else has the place of the socket. */
const NOT_LANEWAY: ErrorData = {
  code: 'ENVIRONMENT',
  message: 'what listens on the socket is no Laneway server',
  hint: 'Run "lane doctor" in a terminal: it says which socket.',
};

function notAnswering(ms: number): ErrorData {
  return {
    code: 'ENVIRONMENT',
    message: `the server does not answer (waited ${ms / 1000} s)`,
    hint: 'It may be stopped: "lane doctor" in a terminal says which process it is.',
  };
}

/** A server of an earlier protocol has been asked to finish, and still runs jobs. */
export class OlderServer extends LanewayError {
  /** Resolves when it has ended. */
  readonly finished: Promise<void>;

  constructor(mismatch: Mismatch, finished: Promise<void>) {
    const jobs = mismatch.running === 1 ? '1 running job' : `${mismatch.running} running jobs`;
    super('VERSION_MISMATCH', `an older server (version ${mismatch.version}) first finishes ${jobs}`, null);
    this.finished = finished;
  }
}

/** Thrown by a start that may be tried again. */
export class HandshakeLost extends LanewayError {
  constructor(cause: unknown) {
    super(HANDSHAKE_LOST.code, HANDSHAKE_LOST.message, HANDSHAKE_LOST.hint, { cause });
  }
}

/** One LanguageClient's life: start once, request, end. */
export class ServerConnection {
  readonly #options: ConnectionOptions;
  readonly #client: LanguageClient;
  /** When connections closed lately, in milliseconds since the epoch. */
  #closes: number[] = [];
  /** The first start succeeded: from now on losses are told through `onLost`. */
  #began = false;
  #ended = false;
  #finishing = false;
  #failure: ErrorData | null = null;
  #socket: net.Socket | null = null;
  /** Runs while the greeting is not answered. */
  #greeting: NodeJS.Timeout | null = null;
  /** Why this side ended a conversation that had not begun. */
  #refused: ErrorData | null = null;
  #older: OlderServer | null = null;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const hello: Hello = { protocol: PROTOCOL, version: options.version, client: 'editor' };
    const clientOptions: LanguageClientOptions = {
      outputChannel: options.log,
      traceOutputChannel: options.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      workspaceFolder: options.folder,
      initializationOptions: hello,
      initializationFailedHandler: (error: unknown) => {
        this.#failure = this.#refused ?? (isConnectionLost(error) ? HANDSHAKE_LOST : toErrorData(error));
        this.#older = this.#olderServer(error);
        return false;
      },
      errorHandler: {
        error: (error) => {
          options.log.debug(`connection: ${error.message}`);
          // A broken pipe has a code, and is a server's end; what cannot be read was said by something else.
          if (this.#greeting && !('code' in error)) this.#refuse(NOT_LANEWAY);
          return { action: ErrorAction.Continue, handled: true };
        },
        closed: () => this.#onClosed(),
      },
    };
    this.#client = new QuietClient('laneway', 'Laneway', () => this.#reach(), clientOptions);
    this.#client.onDidChangeState(({ newState }) => this.#onState(newState));
    for (const method of options.methods) {
      this.#client.onNotification(method, (params: unknown) => {
        if (method === Finishing.method) this.#finishing = true;
        options.onMessage(method, params);
      });
    }
  }

  /** @throws LanewayError when no server can be reached, or it refuses this client. */
  async start(): Promise<Welcome> {
    try {
      await this.#client.start();
    } catch (error) {
      this.#ended = true;
      const older = this.#older;
      if (older) throw older;
      this.#socket?.destroy();
      if (this.#failure === HANDSHAKE_LOST || (this.#failure === null && isConnectionLost(error))) {
        throw new HandshakeLost(error);
      }
      throw this.#asLoss(error);
    }
    const welcome = this.#welcome();
    if (!welcome) {
      await this.end();
      this.#socket?.destroy();
      throw new LanewayError(NOT_LANEWAY.code, NOT_LANEWAY.message, NOT_LANEWAY.hint);
    }
    this.#began = true;
    return welcome;
  }

  async request<P, R>(type: RequestType<P, R>, params: P, token?: vscode.CancellationToken): Promise<R> {
    try {
      // An absent token must not be passed: the client would take both for positional parameters.
      return token
        ? await this.#client.sendRequest<R>(type.method, params, token)
        : await this.#client.sendRequest<R>(type.method, params);
    } catch (error) {
      const data = toErrorData(error);
      const lost = data.code === 'INTERNAL' && (this.#client.state !== State.Running || isConnectionLost(error));
      throw new LanewayError(
        lost ? 'ENVIRONMENT' : data.code,
        lost ? 'the connection to the server was lost' : data.message,
        data.hint,
        { cause: error },
      );
    }
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    if (this.#client.state !== State.Running) return;
    this.#client.sendNotification(type.method, params).catch((error: unknown) => {
      this.#options.log.debug(`${type.method}: ${toErrorData(error).message}`);
    });
  }

  /** Ends the session; the server goes on. Never rejects. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      if (this.#client.state === State.Running) await this.#client.stop();
    } catch (error) {
      this.#options.log.debug(`stopping: ${toErrorData(error).message}`);
    }
    await Promise.resolve(this.#client.dispose()).catch(() => undefined);
  }

  async #reach(): Promise<{ reader: net.Socket; writer: net.Socket; detached: true }> {
    try {
      // On a restart the folder may have gone, e.g. with its disk: a server for nothing helps nobody.
      if (!fs.existsSync(this.#options.workspace)) {
        throw new LanewayError('ENVIRONMENT', `the folder ${this.#options.workspace} does not exist any more`);
      }
      const { workspace, env, runtime, serverBundle } = this.#options;
      const socket = await dialOrStart({
        workspace,
        env: runtimeEnv(runtime, env),
        node: runtime.execPath,
        serverBundle,
        start: 'always',
      });
      socket.on('error', (error) => this.#options.log.debug(`socket: ${error.message}`));
      this.#socket = socket;
      this.#awaitGreeting(socket);
      return { reader: socket, writer: socket, detached: true };
    } catch (error) {
      this.#failure = toErrorData(error);
      throw error;
    }
  }

  /** What accepts and then says nothing, or nothing that can be read, would otherwise be waited for without end. */
  #awaitGreeting(socket: net.Socket): void {
    const ms = this.#options.welcomeMs ?? WELCOME_MS;
    this.#refused = null;
    this.#greeting = setTimeout(() => this.#refuse(notAnswering(ms)), ms);
    socket.once('close', () => this.#greeted());
  }

  #greeted(): void {
    if (this.#greeting) clearTimeout(this.#greeting);
    this.#greeting = null;
  }

  #refuse(why: ErrorData): void {
    this.#refused = why;
    this.#greeted();
    this.#socket?.destroy();
  }

  /** Our greeting asked an older server to finish; it closes the socket when it has. */
  #olderServer(error: unknown): OlderServer | null {
    const data = (error as { data?: Partial<Mismatch> } | null)?.data;
    const socket = this.#socket;
    if (data?.code !== 'VERSION_MISMATCH' || typeof data.protocol !== 'number' || data.protocol >= PROTOCOL)
      return null;
    if (!socket || socket.destroyed) return null;
    return new OlderServer(
      data as Mismatch,
      new Promise((resolve) => {
        socket.once('close', () => resolve());
      }),
    );
  }

  #welcome(): Welcome | undefined {
    const experimental: unknown = this.#client.initializeResult?.capabilities.experimental;
    return (experimental as { laneway?: Welcome } | undefined)?.laneway;
  }

  #onState(state: State): void {
    if (state === State.Running) this.#greeted();
    if (!this.#began || this.#ended) return;
    if (state === State.Starting) this.#options.onReconnecting();
    else if (state === State.Running) {
      this.#failure = null;
      const welcome = this.#welcome();
      if (welcome) this.#options.onReconnected(welcome);
    } else if (state === State.StartFailed) {
      // An older server took over meanwhile: a new start greets it and waits for its end.
      this.#lost(this.#older ? HANDSHAKE_LOST : (this.#failure ?? HANDSHAKE_LOST));
    }
  }

  /** Only a session that had begun is taken up again by itself, and not when the server said goodbye or keeps dying. */
  #onClosed(): { action: CloseAction; handled: true } {
    const now = Date.now();
    this.#closes = [...this.#closes.filter((at) => at > now - RESTART_WINDOW_MS), now];
    const running = this.#client.state === State.Running;
    const again = running && this.#began && !this.#ended && !this.#finishing && this.#closes.length <= MAX_RESTARTS;
    this.#options.log.info(`the connection closed; ${again ? 'connecting again' : 'not connecting again by itself'}`);
    if (!again && running && this.#began && !this.#ended) {
      this.#lost(this.#finishing ? null : { code: 'ENVIRONMENT', message: 'the server keeps ending', hint: null });
    }
    return { action: again ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
  }

  #lost(failure: ErrorData | null): void {
    this.#ended = true;
    this.#socket?.destroy();
    if (failure === HANDSHAKE_LOST) this.#options.onHandshakeLost();
    else this.#options.onLost(failure);
  }

  #asLoss(error: unknown): LanewayError {
    const data = this.#failure ?? toErrorData(error);
    const code = data.code === 'INTERNAL' ? 'ENVIRONMENT' : data.code;
    return new LanewayError(code, data.message, data.hint, { cause: error });
  }
}

/** What a request is rejected with whose connection went away before or after it was sent, or while it was. */
const LOST: ReadonlySet<unknown> = new Set([
  ErrorCodes.PendingResponseRejected,
  ErrorCodes.ConnectionInactive,
  ErrorCodes.MessageWriteError,
]);

function isConnectionLost(error: unknown): boolean {
  return LOST.has((error as { code?: unknown } | null)?.code);
}
