/** What handlers are given: the queue they speak of, and the session that asks. */
import type { Check, Server } from '../shared/job.ts';
import type { StatePaths } from '../shared/paths.ts';
import type { NotificationType } from '../shared/protocol.ts';
import type { Feed } from './events/feed.ts';
import type { Clock, Store } from './store/api.ts';

/** One open queue. Nothing here holds state that the database does not. */
export interface Context {
  readonly workspace: string;
  readonly paths: StatePaths;
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly platform: NodeJS.Platform;
  /** Running jobs of this process's worker; 0 when it has none. */
  running(): number;
  /** How this process presents itself. */
  describe(): Server;
  /** Begin to end; see `ServerStop`. Returns at once. */
  stop(options: { force: boolean; reason: string }): void;
  /** Settings were changed: apply what is applied at once. */
  settingsChanged(): void;
  doctor(deep: boolean): Promise<{ ok: boolean; checks: Check[] }>;
}

/** The asking side of one request. */
export interface Call {
  /** Aborted when the client cancels the request or is gone. */
  readonly signal: AbortSignal;
  readonly session: SessionPort;
}

/** What a handler may do with the session. */
export interface SessionPort {
  notify<P>(type: NotificationType<P>, params: P): void;
  /**
   * Run reads with large answers one after the other, each only once the client has taken most of
   * what was sent before: a client that asks much and reads little costs the server nothing.
   */
  inTurn<T>(read: () => T | Promise<T>): Promise<T>;
  /** Something to end with the session, under a name; replaces (and ends) the former of that name. */
  hold(name: string, release: () => void): void;
  /** End what is held under a name. */
  release(name: string): void;
}

/** Answers one kind of request. `params` is what arrived: each handler checks it. */
export type Handler = (context: Context, params: unknown, call: Call) => unknown;
