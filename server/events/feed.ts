/**
 * Notices that the ledger has moved, whoever moved it, and tells those who asked: sessions get a
 * hint, waiting requests look again, the worker wakes. Own commits are told by the store; those of
 * other processes are seen by `PRAGMA data_version`, which costs microseconds, or by a poke.
 *
 * Nothing is buffered for anybody: a hint says only how far the ledger is, and whoever was slow
 * pulls from its own cursor.
 */
import type { EventsHint, Params } from '../../shared/protocol.ts';
import type { Clock, Queries, Store } from '../store/api.ts';
import { throttle } from './throttle.ts';
import { watchDatabase } from './watch.ts';

/** The least milliseconds between two hints to one session. */
export const HINT_MS = 50;
/** The least milliseconds between two rounds of waiting requests. */
const WAITERS_MS = 15;

export type Hint = Params<typeof EventsHint>;

export interface Feed {
  /** Raised with every change that was noticed. Read it before the database, then wait for it to move. */
  version(): number;
  /**
   * Resolves true once the version is past `since`, false after `timeoutMs` (null: never).
   * Resolves false when the signal aborts.
   */
  moved(since: number, options: { timeoutMs: number | null; signal: AbortSignal }): Promise<boolean>;
  /** Hints from now on, coalesced. Returns how to end them. */
  subscribe(push: (hint: Hint) => void): () => void;
  /** Called with every change, uncoalesced: keep it cheap. */
  onChange(listener: () => void): () => void;
  /** The newest cursor and counts. */
  summary(): Omit<Hint, 'trouble'>;
  /** Look at the database now. */
  poke(): void;
  /** Trouble to tell with every hint; null when over. */
  setTrouble(trouble: string | null): void;
  stop(): void;
}

export interface FeedOptions {
  store: Store;
  queries: Pick<Queries, 'cursor' | 'counts'>;
  clock: Clock;
}

export function createFeed({ store, queries, clock }: FeedOptions): Feed {
  let version = 0;
  let trouble: string | null = null;
  let seen = store.dataVersion();
  const listeners = new Set<() => void>();
  const subscribers = new Set<() => void>();
  const waiters = new Set<() => void>();
  const ticks = (): number => clock.ticks();

  const wakeWaiters = throttle(WAITERS_MS, ticks, () => {
    for (const wake of waiters) wake();
  });
  const changed = (): void => {
    version += 1;
    for (const listener of listeners) listener();
    for (const ask of subscribers) ask();
    if (waiters.size > 0) wakeWaiters.ask();
  };
  const look = (): boolean => {
    let now: number;
    try {
      now = store.dataVersion();
    } catch {
      // Busy or closing: the next look sees it.
      return false;
    }
    if (now === seen) return false;
    seen = now;
    changed();
    return true;
  };
  const offCommit = store.onCommit(changed);
  const stopWatching = watchDatabase(store.path, look);

  const summary = (): Omit<Hint, 'trouble'> =>
    store.read((reader) => ({ cursor: queries.cursor(reader), ...queries.counts(reader) }));

  return {
    version: () => version,
    summary,
    poke: () => void look(),
    moved(since, { timeoutMs, signal }) {
      if (version > since) return Promise.resolve(true);
      if (signal.aborted || timeoutMs === 0) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (moved: boolean): void => {
          waiters.delete(wake);
          signal.removeEventListener('abort', abort);
          if (timer !== null) clearTimeout(timer);
          resolve(moved);
        };
        const wake = (): void => {
          if (version > since) end(true);
        };
        const abort = (): void => end(false);
        const timer = timeoutMs === null ? null : setTimeout(() => end(false), timeoutMs);
        waiters.add(wake);
        signal.addEventListener('abort', abort, { once: true });
      });
    },
    subscribe(push) {
      let told = '';
      const hints = throttle(HINT_MS, ticks, () => {
        const hint: Hint = { ...summary(), trouble };
        // Heartbeats of other processes move `data_version` and nothing else.
        const text = JSON.stringify(hint);
        if (text === told) return;
        told = text;
        push(hint);
      });
      const ask = (): void => hints.ask();
      subscribers.add(ask);
      return () => {
        subscribers.delete(ask);
        hints.stop();
      };
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    setTrouble(next) {
      if (next === trouble) return;
      trouble = next;
      for (const ask of subscribers) ask();
    },
    stop() {
      stopWatching();
      offCommit();
      wakeWaiters.stop();
      subscribers.clear();
      listeners.clear();
    },
  };
}
