/**
 * A server at work: sessions on a socket, a worker, and the watch over what could happen to both.
 * Everything made here is ended here, in the opposite order, whatever ends it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { toErrorData } from '../shared/errors.ts';
import type { Server } from '../shared/job.ts';
import type { Env } from '../shared/paths.ts';
import { SERVER_START_MS } from '../shared/limits.ts';
import { Finishing, PROTOCOL } from '../shared/protocol.ts';
import type { Context } from './context.ts';
import { Disposal } from './disposal.ts';
import { runChecks } from './doctor/doctor.ts';
import { createEnding, type Ending } from './ending.ts';
import { createCheckApart } from './doctor/apart.ts';
import { createFeed } from './events/feed.ts';
import { judgeHello } from './greet.ts';
import { startGuard } from './guard.ts';
import { settleAll } from './handlers/batches.ts';
import { watchIdle } from './idle.ts';
import { listen, type Listener } from './listener.ts';
import { concurrencyOf, makeWorker } from './makeWorker.ts';
import { tidyWhenQuiet } from './memory.ts';
import type { OpenQueue } from './openQueue.ts';
import { startRetention } from './retention.ts';
import { removeServerFile, writeServerFile } from './presence/serverFile.ts';
import { type Greeting, Session } from './session.ts';
import type { Clock } from './store/api.ts';
import * as queries from './store/queries/index.ts';
import { VERSION } from './version.ts';

export interface ServeOptions {
  workspace: string;
  env: Env;
  clock: Clock;
  queue: OpenQueue;
  log: (message: string) => void;
  onEndSignal(listener: () => void): void;
}

/**
 * Serves until the server is asked to end, or nobody has needed it for long. The store stays open.
 * @throws ENVIRONMENT when jobs of this queue run on another machine, or the socket cannot be listened on.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const disposal = new Disposal();
  try {
    const ending = await begin(options, disposal);
    await ending.done;
  } finally {
    await disposal.end((error) => options.log(`while ending: ${toErrorData(error).message}`));
  }
}

async function begin(options: ServeOptions, disposal: Disposal): Promise<Ending> {
  const { workspace, env, clock, queue, log } = options;
  const { store, paths } = queue;
  const started = clock.ticks();
  const sessions = new Set<Session>();
  const clients = (): number => [...sessions].filter((session) => session.isClient).length;

  const feed = createFeed({ store, queries, clock });
  disposal.add(() => feed.stop());
  // A queue that was begun anew is trouble enough to be told until somebody has looked.
  const aside = queue.setAside.length === 0 ? null : `a damaged queue was set aside as ${queue.setAside.join(', ')}`;
  feed.setTrouble(aside);
  const onTrouble = (trouble: string | null): void => feed.setTrouble(trouble ?? aside);
  const worker = await makeWorker({ queue, workspace, clock, env, kind: 'server', onTrouble, log });
  const memory = tidyWhenQuiet();
  disposal.add(() => memory.stop());
  feed.onChange(() => {
    worker.wake();
    memory.touch();
  });
  const ending = createEnding({
    worker,
    log,
    announce: (message) => {
      for (const session of sessions) session.notify(Finishing, message);
    },
  });

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
    clients: clients(),
  });
  let wasNeeded = false;
  let listener: Listener | null = null;
  const idle = watchIdle({
    clock,
    // Whoever started it gets the time to dial, however short the setting is.
    idleMs: () =>
      Math.max(store.read((reader) => queries.settings(reader)).serverIdleMs, wasNeeded ? 0 : SERVER_START_MS),
    busy: () => sessions.size > 0 || worker.running() > 0 || store.read((reader) => queries.anyLive(reader)),
    onIdle: () => {
      leave().catch((error: unknown) => log(`while it was idle: ${toErrorData(error).message}`));
    },
  });
  /** Ends, unless somebody comes at this very moment: who was let in is served. */
  const leave = async (): Promise<void> => {
    listener?.close();
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    if (sessions.size === 0) {
      ending.ask({ force: false, reason: 'nobody needs it' });
      return;
    }
    await listener?.reopen();
    idle.touch();
  };
  disposal.add(() => idle.stop());
  const over = new AbortController();
  const apart = createCheckApart({ workspace, env, signal: over.signal });
  const context: Context = {
    workspace,
    paths,
    store,
    clock,
    feed,
    platform: process.platform,
    running: () => worker.running(),
    describe,
    stop: (how) => ending.ask(how),
    settingsChanged: () => {
      worker.setConcurrency(concurrencyOf(queue));
      worker.wake();
      idle.touch();
    },
    doctor: (deep) => runChecks({ workspace, env, clock, deep, store, server: describe(), apart }),
  };
  const greet = (hello: unknown): Greeting => {
    const verdict = judgeHello(hello, { protocol: PROTOCOL, version: VERSION, running: worker.running() });
    if (verdict.fits) {
      const welcome = { protocol: PROTOCOL, version: VERSION, instance: store.instance, server: describe() };
      return { accepted: true, welcome: { ...welcome, cursor: store.read((reader) => queries.cursor(reader)) } };
    }
    // After the answer, which says how many jobs it still waits for.
    if (verdict.finish) setImmediate(() => ending.ask({ force: false, reason: 'makes room for a newer server' }));
    return { accepted: false, error: verdict.error, linger: verdict.finish };
  };
  const host = {
    context,
    greet,
    accepted: () => {
      wasNeeded = true;
      idle.touch();
    },
    closed: (session: Session) => {
      memory.touch();
      sessions.delete(session);
      idle.touch();
    },
    log,
  };

  const retention = startRetention({ store, clock, paths }, { idle: () => worker.running() === 0, warn: log });
  disposal.add(() => retention.stop());
  await settleAll(store);
  disposal.add(() => (ending.begun ? undefined : worker.stop({ graceful: false })));
  await worker.start();
  disposal.add(async () => {
    await Promise.all([...sessions].map((session) => session.finish()));
  });
  disposal.add(() => over.abort());
  const listening = await listen(
    paths,
    (socket) => sessions.add(new Session(socket, host)),
    (error) => log(`the socket: ${error.message}`),
  );
  listener = listening;
  disposal.add(() => listening.close());
  options.onEndSignal(() => ending.ask({ force: ending.begun, reason: 'a signal' }));
  const startedAt = new Date(clock.now()).toISOString();
  const introduce = (): void =>
    writeServerFile(paths, { pid: process.pid, version: VERSION, protocol: PROTOCOL, socket: paths.socket, startedAt });
  introduce();
  disposal.add(() => removeServerFile(paths, process.pid));
  disposal.add(startGuard({ paths, listener: listening, ending, log, introduce }));
  return ending;
}
