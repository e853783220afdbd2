/**
 * A server at work: sessions on a socket, a worker, and the watch over what could happen to both.
 * Everything made here is ended here, in the opposite order, whatever ends it.
 */
import fs from 'node:fs';
import { toErrorData } from '../shared/errors.ts';
import type { Server } from '../shared/job.ts';
import type { Env } from '../shared/paths.ts';
import { Finishing, PROTOCOL } from '../shared/protocol.ts';
import type { Context } from './context.ts';
import { runChecks } from './doctor.ts';
import { createFeed } from './events/feed.ts';
import { judgeHello } from './greet.ts';
import { watchIdle } from './idle.ts';
import { listen } from './listener.ts';
import { concurrencyOf, makeWorker } from './makeWorker.ts';
import type { OpenQueue } from './openQueue.ts';
import { startRetention } from './retention.ts';
import { removeServerFile, writeServerFile } from './serverFile.ts';
import type { ServerLog } from './serverLog.ts';
import { type Greeting, Session } from './session.ts';
import type { Clock } from './store/api.ts';
import * as queries from './store/queries/index.ts';
import { settleAll } from './handlers/batches.ts';
import { VERSION } from './version.ts';

/** Between two looks at the socket and the database file. */
const GUARD_MS = 500;

export interface ServeOptions {
  workspace: string;
  env: Env;
  clock: Clock;
  queue: OpenQueue;
  log: ServerLog;
  onEndSignal(listener: () => void): void;
}

/** Serves until the server is asked to end, or nobody has needed it for long. The store is closed then. */
export async function serve(options: ServeOptions): Promise<void> {
  const { workspace, env, clock, queue, log } = options;
  const { store, paths } = queue;
  const started = clock.ticks();
  const startedAt = new Date(clock.now()).toISOString();
  const sessions = new Set<Session>();
  const say = (message: string): void => log.write(message);

  const feed = createFeed({ store, queries, clock });
  const worker = await makeWorker({
    queue,
    workspace,
    clock,
    env,
    kind: 'server',
    onTrouble: (trouble) => {
      say(trouble ?? 'the trouble is over');
      feed.setTrouble(trouble);
    },
    log: say,
  });
  feed.onChange(() => worker.wake());

  let finishing: string | null = null;
  let forced = false;
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const stop = ({ force, reason }: { force: boolean; reason: string }): void => {
    if (forced || (finishing !== null && !force)) return;
    say(`${reason}: ${force ? 'stops its jobs' : `finishes, ${worker.running()} running`}`);
    finishing ??= reason;
    forced = force;
    for (const session of sessions) session.notify(Finishing, { reason, running: worker.running() });
    worker.stop({ graceful: !force }).then(ended, (error: unknown) => {
      say(`the worker did not end in order: ${toErrorData(error).message}`);
      ended();
    });
  };

  const describe = (): Server => ({
    running: true,
    pid: process.pid,
    version: VERSION,
    protocol: PROTOCOL,
    workspace,
    socket: paths.socket,
    database: paths.database,
    logs: paths.logs,
    uptimeMs: Math.round(clock.ticks() - started),
    clients: [...sessions].filter((session) => session.isClient).length,
  });
  const context: Context = {
    workspace,
    paths,
    store,
    clock,
    feed,
    platform: process.platform,
    running: () => worker.running(),
    describe,
    stop,
    settingsChanged: () => {
      worker.setConcurrency(concurrencyOf(queue));
      worker.wake();
      idle.touch();
    },
    doctor: (deep) => runChecks({ workspace, env, clock, deep, store, server: describe() }),
  };
  const greet = (hello: unknown): Greeting => {
    const verdict = judgeHello(hello, { protocol: PROTOCOL, version: VERSION, running: worker.running() });
    if (verdict.fits) {
      const welcome = { protocol: PROTOCOL, version: VERSION, instance: store.instance, server: describe() };
      return { accepted: true, welcome: { ...welcome, cursor: store.read((reader) => queries.cursor(reader)) } };
    }
    // After the answer, which says how many jobs it still waits for.
    if (verdict.finish) setImmediate(() => stop({ force: false, reason: 'makes room for a newer server' }));
    return { accepted: false, error: verdict.error, linger: verdict.finish };
  };

  const idle = watchIdle({
    clock,
    idleMs: () => store.read((reader) => queries.settings(reader)).serverIdleMs,
    busy: () =>
      [...sessions].some((session) => session.isClient) ||
      worker.running() > 0 ||
      store.read((reader) => queries.anyLive(reader)),
    onIdle: () => stop({ force: false, reason: 'nobody needs it' }),
  });
  const retention = startRetention({ store, clock, paths }, { idle: () => worker.running() === 0, warn: say });
  const host = {
    context,
    greet,
    accepted: () => idle.touch(),
    closed: (session: Session) => {
      sessions.delete(session);
      idle.touch();
    },
    log: say,
  };

  await settleAll(store);
  await worker.start();
  const listener = await listen(
    paths,
    (socket) => sessions.add(new Session(socket, host)),
    (error) => say(`the socket: ${error.message}`),
  );
  writeServerFile(paths, { pid: process.pid, version: VERSION, protocol: PROTOCOL, socket: paths.socket, startedAt });
  options.onEndSignal(() => stop({ force: finishing !== null, reason: 'a signal' }));

  const database = inodeOf(paths.database);
  const guard = setInterval(() => {
    listener.check().then(
      (again) => {
        if (again) say('the socket was gone and is listened on again');
      },
      (error: unknown) => say(`the socket cannot be listened on: ${toErrorData(error).message}`),
    );
    // What would be written from now on, nobody would find again.
    if (inodeOf(paths.database) !== database) stop({ force: true, reason: 'its database was taken away' });
  }, GUARD_MS);

  await end;
  clearInterval(guard);
  idle.stop();
  listener.close();
  removeServerFile(paths);
  await Promise.all([...sessions].map((session) => session.finish()));
  await retention.stop();
  feed.stop();
  await store.close();
}

function inodeOf(file: string): string {
  const found = fs.statSync(file, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? 'gone' : `${found.dev}:${found.ino}`;
}
