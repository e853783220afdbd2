/**
 * JSON-RPC messages over one socket, bounded in both directions. The JSON-RPC library's own reader
 * trusts its peer: it holds what a header announces, however much. Ours closes the socket of a peer
 * that sends what is no message or too much of one, and stops reading from a peer that does not read.
 */
import type { Socket } from 'node:net';
import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageReader,
  type MessageWriter,
} from 'vscode-languageserver';
import { encodeFrame, frameDecoder } from '../shared/framing.ts';

/** Bytes of one message: a batch of 10,000 jobs stays well below. */
const MAX_MESSAGE = 64 * 1024 * 1024;
/** Bytes on their way to a client above which nothing more is read from it. */
export const HIGH_WATER = 4 * 1024 * 1024;
/** Requests under way above which nothing more is read. */
const MAX_UNANSWERED = 1024;

/** Both halves, which share what they know of the peer. */
export class Wire {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
  readonly #socket: Socket;
  #unanswered = 0;
  #paused = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.reader = new Reader(socket, (message) => this.#received(message));
    this.writer = new Writer(socket, (message) => this.#sent(message));
    socket.on('drain', () => this.#flow());
  }

  /** Requests read and not answered yet. */
  unanswered(): number {
    return this.#unanswered;
  }

  /** Read no more. */
  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  #received(message: Message): void {
    if ('id' in message && 'method' in message) this.#unanswered += 1;
    this.#flow();
  }

  #sent(message: Message): void {
    if ('id' in message && !('method' in message)) this.#unanswered -= 1;
    this.#flow();
  }

  #flow(): void {
    const full = this.#socket.writableLength > HIGH_WATER || this.#unanswered > MAX_UNANSWERED;
    if (full || this.#paused) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }
}

class Reader extends AbstractMessageReader implements MessageReader {
  readonly #socket: Socket;
  readonly #received: (message: Message) => void;

  constructor(socket: Socket, received: (message: Message) => void) {
    super();
    this.#socket = socket;
    this.#received = received;
  }

  listen(callback: DataCallback): Disposable {
    const decoder = frameDecoder(MAX_MESSAGE);
    this.#socket.on('data', (chunk: Buffer) => {
      try {
        for (const message of decoder.push(chunk)) {
          if (!isMessage(message)) throw new Error('sent JSON that is no message');
          this.#received(message);
          callback(greetingWhole(message));
        }
      } catch (error) {
        // What follows cannot be told apart from what was garbled: this conversation is over.
        this.#socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
    });
    this.#socket.on('close', () => this.fireClose());
    return { dispose: () => undefined };
  }
}

class Writer extends AbstractMessageWriter implements MessageWriter {
  readonly #socket: Socket;
  readonly #sent: (message: Message) => void;

  constructor(socket: Socket, sent: (message: Message) => void) {
    super();
    this.#socket = socket;
    this.#sent = sent;
  }

  /** Resolves at once: whoever sends much looks at the socket's backlog first. */
  write(message: Message): Promise<void> {
    if (!this.#socket.destroyed && this.#socket.writable) this.#socket.write(encodeFrame(message));
    this.#sent(message);
    return Promise.resolve();
  }

  end(): void {
    this.#socket.end();
  }
}

/** The library looks into a greeting's capabilities, which nobody here has need of: absent ones are none. */
function greetingWhole(message: Message): Message {
  const { method, params } = message as { method?: string; params?: unknown };
  if (method !== 'initialize') return message;
  const given = typeof params === 'object' && params !== null && !Array.isArray(params) ? params : {};
  const { capabilities } = given as { capabilities?: unknown };
  const whole = typeof capabilities === 'object' && capabilities !== null ? capabilities : {};
  return { ...message, params: { ...given, capabilities: whole } } as Message;
}

/** What the library would not stumble over: an object whose ids and parameters have the right types. */
function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { id, method, params } = value as Record<string, unknown>;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return false;
  if (method !== undefined && typeof method !== 'string') return false;
  if (method === '$/cancelRequest' && (typeof params !== 'object' || params === null)) return false;
  return method !== undefined || id !== undefined;
}
