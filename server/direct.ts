/**
 * A session in the caller's own process: the same handlers, no socket. With `execute` a worker runs
 * beside it, so that `run` and `--wait` need no server at all.
 */
import type { Connection } from '../shared/connection.ts';
import { fromErrorData, LanewayError, toErrorData } from '../shared/errors.ts';
import type { Server } from '../shared/job.ts';
import type { Env } from '../shared/paths.ts';
import { PROTOCOL } from '../shared/protocol.ts';
import type { Call, Context, SessionPort } from './context.ts';
import { runChecks } from './doctor/doctor.ts';
import { createFeed } from './events/feed.ts';
import { handlerOf } from './handlers/index.ts';
import { makeWorker } from './makeWorker.ts';
import { openQueue } from './openQueue.ts';
import { findServer } from './presence/findServer.ts';
import { poke } from './presence/poke.ts';
import type { Clock } from './store/api.ts';
import * as queries from './store/queries/index.ts';
import { VERSION } from './version.ts';

export interface DirectOptions {
  /** Real path. */
  workspace: string;
  execute: boolean;
  env: Env;
  clock: Clock;
  /** For a person: a damaged database was set aside, and the like. */
  warn: (message: string) => void;
}

/** @throws what {@link openQueue} throws; ENVIRONMENT when jobs of this queue run on another machine. */
export async function openDirect(options: DirectOptions): Promise<Connection> {
  const { workspace, execute, env, clock, warn } = options;
  const queue = await openQueue({ workspace, env, clock, warn });
  const { store, paths } = queue;
  const feed = createFeed({ store, queries, clock });
  const worker = execute ? await makeWorker({ queue, workspace, clock, env, kind: 'work' }) : null;
  const running = await findServer(paths);
  const server: Server = {
    running: running !== null,
    pid: running?.pid ?? null,
    version: running?.version ?? null,
    protocol: running?.protocol ?? null,
    workspace,
    socket: running?.socket ?? null,
    database: paths.database,
    logs: paths.logs,
    uptimeMs: null,
    clients: null,
  };
  const session = new DirectSession();
  let leave: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => (leave = resolve));
  const context: Context = {
    workspace,
    paths,
    store,
    clock,
    feed,
    platform: process.platform,
    running: () => worker?.running() ?? 0,
    describe: () => server,
    stop: () => {
      throw new LanewayError('CONFLICT', 'no server is spoken to with --direct', 'Leave --direct out.');
    },
    settingsChanged: () => worker?.wake(),
    doctor: (deep) => runChecks({ workspace, env, clock, deep, store, server }),
  };
  if (worker !== null) {
    feed.onChange(() => worker.wake());
    await worker.start().catch(async (error: unknown) => {
      await worker.stop({ graceful: true });
      feed.stop();
      await store.close();
      throw error;
    });
  }
  // A server that runs sees the change within its watch; a poke makes it at once.
  let pokes = false;
  const off = store.onCommit(() => (pokes = true));

  let closing: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    session.end();
    await worker?.stop({ graceful: false });
    off();
    feed.stop();
    await store.close();
    if (pokes && running !== null) await poke(running.socket);
    leave();
  };
  return {
    welcome: {
      protocol: PROTOCOL,
      version: VERSION,
      instance: store.instance,
      server,
      cursor: feed.summary().cursor,
    },
    closed,
    async request(type, params) {
      const handler = handlerOf(type.method);
      if (handler === undefined) throw new LanewayError('INTERNAL', `no message ${type.method}`);
      try {
        return (await handler(context, params, session.call())) as never;
      } catch (error) {
        throw error instanceof LanewayError ? error : fromErrorData(toErrorData(error));
      }
    },
    notify(type, params) {
      Promise.resolve(handlerOf(type.method)?.(context, params, session.call())).catch(() => undefined);
    },
    on: (type, listener) => session.on(type.method, listener as (params: unknown) => void),
    close: () => (closing ??= close()),
  };
}

/** The session's side of it: what was sent goes to the listeners of the same process. */
class DirectSession implements SessionPort {
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>();
  readonly #held = new Map<string, () => void>();
  readonly #ended = new AbortController();

  call(): Call {
    return { signal: this.#ended.signal, session: this };
  }

  on(method: string, listener: (params: unknown) => void): () => void {
    const set = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, set.add(listener));
    return () => {
      set.delete(listener);
    };
  }

  notify: SessionPort['notify'] = (type, params) => {
    for (const listener of this.#listeners.get(type.method) ?? []) listener(params);
  };

  async inTurn<T>(read: () => T | Promise<T>): Promise<T> {
    return read();
  }

  hold(name: string, release: () => void): void {
    this.release(name);
    this.#held.set(name, release);
  }

  release(name: string): void {
    this.#held.get(name)?.();
    this.#held.delete(name);
  }

  end(): void {
    this.#ended.abort();
    for (const name of this.#held.keys()) this.release(name);
  }
}
