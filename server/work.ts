/** `lane work`: a worker in the foreground, on the database itself, with or without a server. */
import type { WorkOptions } from '../shared/serverModule.ts';
import type { Env } from '../shared/paths.ts';
import { createFeed } from './events/feed.ts';
import { makeWorker } from './makeWorker.ts';
import { openQueue } from './openQueue.ts';
import type { Clock } from './store/api.ts';
import * as queries from './store/queries/index.ts';

export interface WorkParts {
  env: Env;
  clock: Clock;
  warn: (message: string) => void;
}

/**
 * Works until its options or signals say that it is enough.
 * @throws what opening the queue throws; ENVIRONMENT when jobs of this queue run on another machine.
 */
export async function work(options: WorkOptions, { env, clock, warn }: WorkParts): Promise<void> {
  const { workspace, lanes, drainSignal, stopSignal } = options;
  const queue = await openQueue({ workspace, env, clock, warn });
  const { store } = queue;
  const feed = createFeed({ store, queries, clock });
  let enough: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (enough = resolve));
  let lastBusy = clock.ticks();
  let finished = 0;

  const worker = await makeWorker({
    queue,
    workspace,
    clock,
    env,
    kind: 'work',
    lanes,
    slots: options.slots,
    concurrency: options.concurrency,
    maxAttempts: options.once ? 1 : null,
    onFinished: (line) => {
      finished += 1;
      lastBusy = clock.ticks();
      options.onFinished(line);
    },
    onIdle: () => judge(),
    onTrouble: (trouble) => {
      if (trouble !== null) warn(trouble);
    },
  });
  /** Looks whether there is a reason to end. Called when the worker is idle, after changes, and by a timer. */
  function judge(): void {
    if (worker.running() > 0) {
      lastBusy = clock.ticks();
      return;
    }
    if (options.once && finished > 0) enough();
    if (options.drain && !store.read((reader) => queries.drainable(reader, lanes))) enough();
    if (options.idleTimeoutMs !== null && clock.ticks() - lastBusy >= options.idleTimeoutMs) enough();
  }

  const off = feed.onChange(() => {
    worker.wake();
    if (options.drain) judge();
  });
  const look = setInterval(judge, Math.min(1000, Math.max(20, (options.idleTimeoutMs ?? 10_000) / 10)));
  const drain = (): void => enough();
  const stop = (): void => {
    enough();
    void worker.stop({ graceful: false });
  };
  drainSignal.addEventListener('abort', drain, { once: true });
  stopSignal.addEventListener('abort', stop, { once: true });
  try {
    await worker.start();
    if (drainSignal.aborted || stopSignal.aborted) enough();
    judge();
    await over;
  } finally {
    clearInterval(look);
    await worker.stop({ graceful: !stopSignal.aborted });
    drainSignal.removeEventListener('abort', drain);
    stopSignal.removeEventListener('abort', stop);
    off();
    feed.stop();
    await store.close();
  }
}
