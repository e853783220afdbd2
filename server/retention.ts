/**
 * Pruning, asked for or automatic: rows first, in steps so small that a claim never waits 50 ms for
 * one of them; then the log files and the folders that this leaves empty. A crash between the two
 * leaves no file behind, because the store remembers which are still to be deleted.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StateFilter } from '../shared/job.ts';
import type { Context } from './context.ts';
import { removeLogs } from './logs/remove.ts';
import type { Clock, Queries, Store } from './store/api.ts';
import * as queries from './store/queries/index.ts';
import * as transitions from './store/transitions/index.ts';

/** What a step aims at, in milliseconds: half of what a claim may ever wait. */
const STEP_MS = 20;
const MAX_STEP_JOBS = 500;
const FILES_PER_STEP = 500;
/** Between two automatic rounds. */
const ROUND_MS = 10 * 60_000;
/** After the start, so that a short-lived server does it too, and a busy start is left alone. */
const FIRST_ROUND_MS = 20_000;

type Ground = Pick<Context, 'store' | 'clock' | 'paths'>;

/** Deletes terminal jobs that ended before `before`, and with `overBytes` the oldest beyond that many bytes of logs. */
export async function prune(
  { store, clock, paths }: Ground,
  { before, states, overBytes = null }: { before: number; states: StateFilter[]; overBytes?: number | null },
  goOn: () => boolean = () => true,
): Promise<{ deleted: number; bytesFreed: number }> {
  let deleted = 0;
  let bytesFreed = 0;
  let maxJobs = 50;
  for (let more = true; more && goOn();) {
    const started = clock.ticks();
    const step = await store.write((tx) => transitions.prune(tx, { before, states, maxJobs, overBytes }));
    const took = clock.ticks() - started;
    deleted += step.ids.length;
    bytesFreed += step.bytes;
    more = step.more;
    // Steps grow and shrink with the machine.
    maxJobs = took > STEP_MS ? Math.max(1, Math.floor(maxJobs / 2)) : Math.min(MAX_STEP_JOBS, maxJobs * 2);
    await nextTurn();
  }
  await deleteFiles(store, paths.logs, goOn);
  return { deleted, bytesFreed };
}

/** What {@link prune} by age would delete. */
export async function prunable(
  { store }: Pick<Context, 'store'>,
  { before, states }: { before: number; states: StateFilter[] },
): Promise<{ deleted: number; bytesFreed: number }> {
  let deleted = 0;
  let bytesFreed = 0;
  let cursor: string | null = null;
  do {
    const at: string | null = cursor;
    const page: ReturnType<Queries['prunable']> = store.read((reader) =>
      queries.prunable(reader, { before, states, limit: 1000, cursor: at }),
    );
    deleted += page.jobs;
    bytesFreed += page.bytes;
    cursor = page.nextCursor;
    await nextTurn();
  } while (cursor !== null);
  return { deleted, bytesFreed };
}

/** Deletes the files that pruning left to delete. A file that cannot be deleted stays noted for the next round. */
async function deleteFiles(store: Store, logs: string, goOn: () => boolean): Promise<void> {
  while (goOn()) {
    const files = store.read((reader) => queries.filesToDelete(reader, FILES_PER_STEP));
    if (files.length === 0) return;
    const gone = await removeLogs(logs, files);
    if (gone.length === 0) return;
    await store.write((tx) => transitions.prunedFiles(tx, gone));
  }
}

/** One automatic round by the queue's settings. */
export async function retain(ground: Ground, goOn: () => boolean = () => true): Promise<void> {
  const { store, clock } = ground;
  const { retentionMs, retentionBytes } = store.read((reader) => queries.settings(reader));
  const before = clock.now() - retentionMs;
  await prune(ground, { before, states: ['done', 'dead', 'canceled'], overBytes: retentionBytes }, goOn);
  for (let more = true; more && goOn();) {
    more = await store.write((tx) => transitions.pruneLedger(tx, before - retentionMs, MAX_STEP_JOBS));
    await nextTurn();
  }
}

export interface Retention {
  /** Resolves when a round that is under way has ended. */
  stop(): Promise<void>;
}

/** Automatic rounds, at moments when nothing runs here. */
export function startRetention(
  ground: Ground,
  { idle, warn }: { idle: () => boolean; warn: (message: string) => void },
): Retention {
  let stopped = false;
  let round: Promise<void> = Promise.resolve();
  let last = Number.NEGATIVE_INFINITY;
  const clock: Clock = ground.clock;
  const tick = (): void => {
    // A queue that is never idle is pruned all the same, only later.
    const due = clock.ticks() - last;
    if (due < ROUND_MS || (!idle() && due < 6 * ROUND_MS)) return;
    last = clock.ticks();
    round = retain(ground, () => !stopped).catch((error: unknown) => warn(`retention: ${String(error)}`));
  };
  const first = setTimeout(tick, FIRST_ROUND_MS);
  const timer = setInterval(tick, ROUND_MS / 10);
  first.unref();
  timer.unref();
  return {
    async stop() {
      stopped = true;
      clearTimeout(first);
      clearInterval(timer);
      await round;
    },
  };
}
