/**
 * One client's conversation. The language server library's connection speaks the protocol; its
 * usual entry would end the whole process with its client, so each session has a watch dog that
 * closes nothing but its own socket.
 *
 * A session holds what must end with it: subscriptions, followed logs, waiting requests.
 */
import 'vscode-jsonrpc/node';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CancellationToken,
  createConnection,
  createProtocolConnection,
  type InitializeResult,
  ResponseError,
  type WatchDog,
} from 'vscode-languageserver';
import { type ErrorData, LanewayError, RPC_ERROR, toErrorData } from '../shared/errors.ts';
import type { NotificationType, Welcome } from '../shared/protocol.ts';
import type { Context, SessionPort } from './context.ts';
import { handlerOf } from './handlers/index.ts';
import { HIGH_WATER, Wire } from './wire.ts';

/** How a client that introduced itself is answered. */
export type Greeting =
  | { accepted: true; welcome: Welcome }
  /** `linger`: keep its socket open until the server ends, because the client waits for that. */
  | { accepted: false; error: ErrorData; linger: boolean };

export interface SessionHost {
  readonly context: Context;
  greet(hello: unknown): Greeting;
  /** A client was accepted, for the count of clients. */
  accepted(session: Session): void;
  closed(session: Session): void;
  log(message: string): void;
}

/** Milliseconds in which a client has to introduce itself. */
const HELLO_MS = 30_000;
/** Milliseconds the requests under way get when the server ends. */
const FINISH_MS = 2000;
/** A session is quiet when so many looks in a row, so many milliseconds apart, found nothing new. */
const QUIET_LOOKS = 3;
const LOOK_MS = 10;

export class Session implements SessionPort {
  readonly #socket: Socket;
  readonly #host: SessionHost;
  readonly #wire: Wire;
  readonly #connection: ReturnType<typeof createConnection>;
  readonly #ended = new AbortController();
  readonly #held = new Map<string, () => void>();
  readonly #late = new Map<string, [method: string, params: unknown]>();
  readonly #hello: NodeJS.Timeout;
  #greeting: Greeting | null = null;
  #turn: Promise<unknown> | null = null;

  constructor(socket: Socket, host: SessionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#wire = new Wire(socket);
    const watchDog: WatchDog = {
      shutdownReceived: false,
      initialize: () => undefined,
      exit: () => socket.end(),
    };
    // The logger the library offers would send its lines to the client as messages of its own.
    const { reader, writer } = this.#wire;
    this.#connection = createConnection(() => createProtocolConnection(reader, writer, SILENT), watchDog);
    this.#connection.onInitialize((params) => this.#initialize(params.initializationOptions));
    this.#connection.onRequest((method, params, token) => this.#request(method, params, token));
    this.#connection.onNotification((method, params) => this.#notified(method, params));
    this.#connection.onShutdown(() => undefined);
    socket.on('drain', () => this.#pushLate());
    socket.on('error', (error) => this.#trouble(error));
    socket.on('close', () => this.#close());
    this.#hello = setTimeout(() => socket.destroy(), HELLO_MS);
    this.#hello.unref();
    this.#connection.listen();
  }

  /** True once the client was accepted. */
  get isClient(): boolean {
    return this.#greeting?.accepted === true;
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    if (!this.isClient) return;
    // Of a client that does not read only the newest hint of each kind is kept, until it does.
    if (this.#socket.writableLength > HIGH_WATER) {
      const { jobId = '', attempt = '' } = (params ?? {}) as { jobId?: number; attempt?: number };
      this.#late.set(`${type.method} ${jobId}.${attempt}`, [type.method, params]);
      return;
    }
    this.#push(type.method, params);
  }

  #push(method: string, params: unknown): void {
    void this.#connection.sendNotification(method, params).catch(() => undefined);
  }

  #pushLate(): void {
    const late = [...this.#late.values()];
    this.#late.clear();
    for (const [method, params] of late) this.#push(method, params);
  }

  inTurn<T>(read: () => T | Promise<T>): Promise<T> {
    const former = this.#turn;
    const turn = (async () => {
      if (former !== null) {
        await former.catch(() => undefined);
        // Let the former answer reach the socket before its backlog is judged.
        await nextTurn();
      }
      await this.#writable();
      return read();
    })();
    this.#turn = turn;
    return turn.finally(() => {
      if (this.#turn === turn) this.#turn = null;
    });
  }

  hold(name: string, release: () => void): void {
    this.release(name);
    if (this.#ended.signal.aborted) release();
    else this.#held.set(name, release);
  }

  release(name: string): void {
    this.#held.get(name)?.();
    this.#held.delete(name);
  }

  /**
   * Answers what was asked, what is still on its way here included, then closes. Resolves when the
   * socket is closed.
   */
  async finish(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (this.#socket.destroyed) resolve();
      else this.#socket.once('close', () => resolve());
    });
    this.#ended.abort();
    const deadline = performance.now() + FINISH_MS;
    let [quiet, read] = [0, this.#socket.bytesRead];
    while (quiet < QUIET_LOOKS && performance.now() < deadline && !this.#socket.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      quiet = this.#wire.unanswered() === 0 && this.#socket.bytesRead === read ? quiet + 1 : 0;
      read = this.#socket.bytesRead;
    }
    this.#wire.pause();
    // A paused socket would never see the other side's end.
    this.#socket.end(() => this.#socket.destroy());
    const timer = setTimeout(() => this.#socket.destroy(), FINISH_MS);
    await closed;
    clearTimeout(timer);
  }

  #initialize(hello: unknown): InitializeResult | ResponseError<never> {
    clearTimeout(this.#hello);
    this.#greeting ??= this.#host.greet(hello);
    if (this.#greeting.accepted) {
      this.#host.accepted(this);
      return { capabilities: { experimental: { laneway: this.#greeting.welcome } } };
    }
    const { error, linger } = this.#greeting;
    if (!linger) setTimeout(() => this.#socket.destroy(), HELLO_MS).unref();
    // The library expects an error of its own kind; what our clients read is `data`.
    return new ResponseError(RPC_ERROR, error.message, error as never);
  }

  async #request(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const subscription = token.onCancellationRequested(abort);
    // A request cancelled while it was queued comes with a token that never fires.
    if (token.isCancellationRequested) abort();
    this.#ended.signal.addEventListener('abort', abort, { once: true });
    try {
      if (this.#greeting === null) throw new LanewayError('INVALID_INPUT', 'the first message must be "initialize"');
      if (!this.#greeting.accepted)
        return new ResponseError(RPC_ERROR, this.#greeting.error.message, this.#greeting.error);
      const handler = handlerOf(method);
      if (handler === undefined) {
        throw new LanewayError('INVALID_INPUT', `there is no message "${method.slice(0, 100)}"`, 'Update the client.');
      }
      return await handler(this.#host.context, params, { signal: controller.signal, session: this });
    } catch (error) {
      const data = toErrorData(error);
      if (data.code === 'INTERNAL') {
        this.#host.log(`${method}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
      return new ResponseError(RPC_ERROR, data.message, data);
    } finally {
      subscription.dispose();
      this.#ended.signal.removeEventListener('abort', abort);
    }
  }

  #notified(method: string, params: unknown): void {
    if (!this.isClient) return;
    const call = { signal: this.#ended.signal, session: this };
    Promise.resolve(handlerOf(method)?.(this.#host.context, params, call)).catch((error: unknown) =>
      this.#host.log(`${method}: ${toErrorData(error).message}`),
    );
  }

  /** Resolves when most of what was sent has been taken. */
  #writable(): Promise<void> {
    if (this.#socket.writableLength <= HIGH_WATER || this.#socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        this.#socket.off('drain', go);
        this.#socket.off('close', go);
        resolve();
      };
      this.#socket.on('drain', go);
      this.#socket.on('close', go);
    });
  }

  #trouble(error: NodeJS.ErrnoException): void {
    // Clients vanish all the time; only what they should not have sent is worth a line.
    if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') this.#host.log(`a client was dropped: ${error.message}`);
  }

  #close(): void {
    clearTimeout(this.#hello);
    this.#ended.abort();
    for (const release of this.#held.values()) release();
    this.#held.clear();
    this.#connection.dispose();
    this.#host.closed(this);
  }
}

const nothing = (): void => undefined;
const SILENT = { error: nothing, warn: nothing, info: nothing, log: nothing };
