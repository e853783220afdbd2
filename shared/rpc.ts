/**
 * JSON-RPC 2.0 over a stream of LSP frames: the client's half. Requests made before the socket
 * is open are held and leave in one write, so that `initialize` and the first request travel
 * together and a short command costs one round trip.
 */
import type { Socket } from 'node:net';
import { fromErrorData, isErrorData, LanewayError } from './errors.ts';
import { encodeFrame, frameDecoder } from './framing.ts';
import type { NotificationType, RequestType } from './protocol.ts';

const METHOD_NOT_FOUND = -32_601;

/** The other side is gone. Apart from other ENVIRONMENT errors, because a caller may dial again. */
export class ConnectionLost extends LanewayError {
  constructor(cause?: Error) {
    super(
      'ENVIRONMENT',
      `The connection to the server was lost${cause ? ` (${cause.message})` : ''}`,
      'See "lane server logs"; what was asked last may or may not have been done: "lane list" tells.',
      { cause },
    );
  }
}

/** An error answer with everything the server said about it. */
export class RpcError extends LanewayError {
  /** `error.data` as it came. */
  readonly data: object | null;

  constructor(error: LanewayError, data: object | null) {
    super(error.code, error.message, error.hint);
    this.data = data;
  }
}

export interface Rpc {
  request<P, R>(type: RequestType<P, R>, params: P): Promise<R>;
  notify<P>(type: NotificationType<P>, params: P): void;
  on<P>(type: NotificationType<P>, listener: (params: P) => void): () => void;
  /** Resolves when the socket is closed, by whichever side. */
  readonly closed: Promise<void>;
  /** Idempotent; open requests reject. */
  close(): Promise<void>;
}

interface Pending {
  resolve(result: never): void;
  reject(error: Error): void;
}

interface Message {
  id?: number | string | null;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
}

/** Speaks JSON-RPC over a socket that is open or still connecting. The socket is then this object's own. */
export function rpcOver(socket: Socket): Rpc {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Set<(params: never) => void>>();
  const decoder = frameDecoder();
  let nextId = 1;
  let held: string | null = socket.connecting ? '' : null;
  let failure: Error | undefined;

  const send = (message: object): void => {
    const frame = encodeFrame({ jsonrpc: '2.0', ...message });
    if (held === null) socket.write(frame);
    else held += frame;
  };
  const receive = (message: Message): void => {
    if (message.method === undefined) {
      const waiting = pending.get(message.id as number);
      pending.delete(message.id as number);
      if (message.error) waiting?.reject(rpcError(message.error));
      else waiting?.resolve(message.result as never);
    } else if (message.id !== undefined) {
      send({ id: message.id, error: { code: METHOD_NOT_FOUND, message: `no method ${message.method}` } });
    } else {
      for (const listener of listeners.get(message.method) ?? []) listener(message.params as never);
    }
  };

  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      for (const waiting of pending.values()) waiting.reject(failure ?? new ConnectionLost());
      pending.clear();
      resolve();
    });
  });
  socket.once('connect', () => {
    if (held) socket.write(held);
    held = null;
  });
  socket.once('end', () => socket.destroy());
  socket.on('error', (error) => {
    failure ??= error instanceof LanewayError ? error : new ConnectionLost(error);
  });
  socket.on('data', (chunk) => {
    try {
      for (const message of decoder.push(chunk)) receive(message as Message);
    } catch (error) {
      failure ??= error as Error;
      socket.destroy();
    }
  });

  return {
    closed,
    request: <P, R>(type: RequestType<P, R>, params: P) =>
      new Promise<R>((resolve, reject) => {
        if (socket.destroyed) {
          reject(failure ?? new ConnectionLost());
          return;
        }
        const id = nextId++;
        pending.set(id, { resolve, reject });
        send({ id, method: type.method, params });
      }),
    notify: (type, params) => {
      if (!socket.destroyed) send({ method: type.method, params });
    },
    on: (type, listener) => {
      const set = listeners.get(type.method) ?? new Set();
      listeners.set(type.method, set.add(listener));
      return () => {
        set.delete(listener);
      };
    },
    close: () => {
      socket.destroy();
      return closed;
    },
  };
}

function rpcError(error: NonNullable<Message['error']>): RpcError {
  const data = typeof error.data === 'object' ? error.data : null;
  const known = isErrorData(data) ? fromErrorData(data) : new LanewayError('INTERNAL', error.message);
  return new RpcError(known, data);
}
