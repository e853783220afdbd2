/** One conversation with a queue, whatever carries it: a socket, or the same process. */
import type { NotificationType, RequestType, Welcome } from './protocol.ts';

export interface Connection {
  readonly welcome: Welcome;
  /** Rejects with a LanewayError; ENVIRONMENT when the connection was lost meanwhile. */
  request<P, R>(type: RequestType<P, R>, params: P): Promise<R>;
  notify<P>(type: NotificationType<P>, params: P): void;
  /** Returns the function that takes the listener off again. */
  on<P>(type: NotificationType<P>, listener: (params: P) => void): () => void;
  /** Resolves when the other side is gone or `close` was called. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}
