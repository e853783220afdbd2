/**
 * A client of the tests' own: it says exactly what it is told to, good or bad, and remembers what
 * came. What the product's client would hide (retries, starting a server) is visible here.
 */
import net from 'node:net';
import { encodeFrame, frameDecoder } from '../../shared/framing.ts';
import { type ErrorCode, isErrorData, LanewayError } from '../../shared/errors.ts';
import type { AddRequest, Job } from '../../shared/job.ts';
import { Add, type NotificationType, PROTOCOL, type RequestType, type Welcome } from '../../shared/protocol.ts';
import { waitFor } from './waitFor.ts';

interface Incoming {
  id?: number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** An error answer, with all of its data. */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly data: Record<string, unknown>;

  constructor(message: string, data: unknown) {
    super(message);
    if (!isErrorData(data)) throw new Error(`an error answer without data: ${message}`);
    this.code = data.code;
    this.data = data as unknown as Record<string, unknown>;
  }
}

export class Client {
  readonly socket: net.Socket;
  /** Resolves when the socket is closed, by whichever side. */
  readonly closed: Promise<void>;
  /** Notifications in the order they came. */
  readonly notifications: { method: string; params: unknown }[] = [];
  readonly #pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #nextId = 1;

  constructor(path: string) {
    this.socket = net.connect({ path });
    const decoder = frameDecoder();
    this.socket.on('data', (chunk) => {
      for (const message of decoder.push(chunk)) this.#receive(message as Incoming);
    });
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      this.socket.on('close', () => {
        for (const waiting of this.#pending.values())
          waiting.reject(new LanewayError('ENVIRONMENT', 'the socket closed'));
        this.#pending.clear();
        resolve();
      });
    });
  }

  /** LSP's `initialize`. @throws Refusal */
  async hello(protocol = PROTOCOL, version = '0.0.0-test'): Promise<Welcome> {
    const params = { processId: null, rootUri: null, capabilities: {} };
    const answer = (await this.call('initialize', {
      ...params,
      initializationOptions: { protocol, version, client: 'test' },
    })) as { capabilities: { experimental: { laneway: Welcome } } };
    return answer.capabilities.experimental.laneway;
  }

  request<P, R>(type: RequestType<P, R>, params: P): Promise<R> {
    return this.call(type.method, params) as Promise<R>;
  }

  call(method: string, params: unknown): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  notify<P>(type: NotificationType<P>, params: P): void {
    this.send({ method: type.method, params });
  }

  send(message: object): void {
    this.socket.write(encodeFrame({ jsonrpc: '2.0', ...message }));
  }

  /** What came of one kind of notification so far. */
  received<P>(type: NotificationType<P>): P[] {
    return this.notifications.filter(({ method }) => method === type.method).map(({ params }) => params as P);
  }

  async receives<P>(type: NotificationType<P>, which: (params: P) => boolean = () => true): Promise<P> {
    return waitFor(() => this.received(type).find(which), { what: `a ${type.method}` });
  }

  /** Queues jobs as a person without any environment but PATH would. */
  async add(...jobs: AddRequest[]): Promise<Job[]> {
    const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o022 };
    return (await this.request(Add, { jobs, caller })).jobs;
  }

  async close(): Promise<void> {
    this.socket.end();
    await this.closed;
  }

  #receive(message: Incoming): void {
    if (message.method !== undefined) {
      this.notifications.push({ method: message.method, params: message.params });
      return;
    }
    const waiting = this.#pending.get(message.id ?? -1);
    this.#pending.delete(message.id ?? -1);
    if (message.error) waiting?.reject(new Refusal(message.error.message, message.error.data));
    else waiting?.resolve(message.result);
  }
}

/** A client that has introduced itself; closed after the test. */
export async function client(path: string, cleaner?: { after(action: () => Promise<void>): void }): Promise<Client> {
  const made = new Client(path);
  cleaner?.after(() => made.close());
  await made.hello();
  return made;
}
