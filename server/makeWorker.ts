/** A worker on an open queue, with everything of this machine that it needs. Used by server, `--direct`, `lane work`. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { HEARTBEAT_MS, LEASE_MS } from '../shared/limits.ts';
import type { Env } from '../shared/paths.ts';
import { writeLauncher } from './launcher.ts';
import type { OpenQueue } from './openQueue.ts';
import { readHost } from './run/host.ts';
import { parsePoints } from './run/points.ts';
import { runTool } from './run/tool.ts';
import { createWorker, type WorkerHandle, type WorkerOptions } from './run/worker.ts';
import type { Clock } from './store/api.ts';
import * as queries from './store/queries/index.ts';

export interface MakeWorkerOptions {
  queue: OpenQueue;
  workspace: string;
  clock: Clock;
  env: Env;
  kind: WorkerOptions['kind'];
  lanes?: string[] | null;
  slots?: number | null;
  /** Null: the queue's setting, else one per core. */
  concurrency?: number | null;
  maxAttempts?: number | null;
  onTrouble?: WorkerOptions['onTrouble'];
  onFinished?: WorkerOptions['onFinished'];
  onIdle?: WorkerOptions['onIdle'];
  log?: WorkerOptions['log'];
}

export async function makeWorker(options: MakeWorkerOptions): Promise<WorkerHandle> {
  const { queue, workspace, clock, env, kind, lanes = null, slots = null, maxAttempts = null } = options;
  const { store, paths } = queue;
  // Node makes its helper threads when it first needs one, and dies when the machine has none left: better now than among jobs.
  await fs.promises.stat(paths.folder);
  return createWorker(
    {
      store,
      clock,
      host: await readHost(process.platform, runTool),
      paths: { workspace, home: paths.home, logs: paths.logs, laneFolder: laneFolder(paths.folder) },
      kind,
      lanes,
      slots,
      concurrency: options.concurrency ?? concurrencyOf(queue),
      maxAttempts,
      logLimit: () => store.read((reader) => queries.settings(reader)).logLimit,
      onTrouble: options.onTrouble,
      onFinished: options.onFinished,
      onIdle: options.onIdle,
      log: options.log,
      point: parsePoints(env['LANEWAY_TEST_POINTS']),
    },
    heartbeatOf(env),
  );
}

/** Tests alone shorten the heartbeat, and with it the lease of six. */
export function heartbeatOf(env: Env): { heartbeatMs: number; leaseMs: number } {
  const given = Number(env['LANEWAY_TEST_HEARTBEAT_MS']);
  const heartbeatMs = given >= 1 && given <= HEARTBEAT_MS ? given : HEARTBEAT_MS;
  return { heartbeatMs, leaseMs: (LEASE_MS / HEARTBEAT_MS) * heartbeatMs };
}

/** The queue's setting, else one job per core. */
export function concurrencyOf({ store }: Pick<OpenQueue, 'store'>): number {
  return store.read((reader) => queries.settings(reader)).concurrency ?? os.availableParallelism();
}

function laneFolder(folder: string): string | null {
  const bundle = path.join(import.meta.dirname, 'cli.js');
  return writeLauncher(folder, bundle, process.execPath, process.versions['electron'] !== undefined);
}
