/**
 * A worker: claims jobs, runs an attempt of each, records what became of it, renews its leases, and
 * reaps workers that are gone. It keeps in memory only what the database cannot hold, the processes
 * themselves; a worker that dies at any instruction loses nothing that its successor cannot find.
 */
import { randomBytes } from 'node:crypto';
import { LanewayError } from '../../shared/errors.ts';
import { HEARTBEAT_MS, LEASE_MS } from '../../shared/limits.ts';
import type { Claimed } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';
import { createAttempts } from './attempts.ts';
import type { WorkerHandle, WorkerOptions } from './contract.ts';
import { ownIdentity } from './host.ts';
import { keepLease } from './lease.ts';
import type { Lease } from './lease.ts';
import { createPersist } from './persist.ts';
import { noPoint } from './points.ts';
import { probeMachine } from './probe.ts';
import { createProcesses } from './processes.ts';
import type { Processes } from './processes.ts';
import { createReaper, refuseForeign } from './reaper.ts';
import { createScheduler } from './scheduler.ts';
import { createSpawn } from './spawn.ts';
import type { Spawn } from './spawn.ts';
import { runTool } from './tool.ts';
import { createTrouble } from './trouble.ts';

export type { FinishedLine, WorkerHandle, WorkerOptions, WorkerPaths } from './contract.ts';

/** What tests replace; production leaves all of it as it is. */
export interface WorkerParts {
  platform: NodeJS.Platform;
  processes: Processes;
  /** Wraps the real spawn: tests let it fail. */
  wrapSpawn: (spawn: Spawn) => Spawn;
  heartbeatMs: number;
  leaseMs: number;
  firstProbeMs: number;
}

const FIRST_PROBE_MS = 500;
const LONGEST_PROBE_MS = 30_000;
/** Tries of a write, about six seconds of them, while stopping hard. */
const LAST_TRIES = 5;
/** From a commit to the look whether it asked to cancel something. */
const LOOK_MS = 5;

/** A worker on an open store. Nothing happens before `start`. */
export function createWorker(options: WorkerOptions, parts: Partial<WorkerParts> = {}): WorkerHandle {
  const { store, clock, host, paths, kind, lanes, slots, log = () => undefined, point = noPoint } = options;
  const { platform = process.platform, heartbeatMs = HEARTBEAT_MS, leaseMs = LEASE_MS } = parts;
  const id = `${kind}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const processes = parts.processes ?? createProcesses(platform, runTool);
  const kill = (pid: number, signal: NodeJS.Signals) => void process.kill(pid, signal);
  const common = { platform, processes, tool: runTool, clock, kill, log, paths, point, workerId: id };

  let attemptsLeft = options.maxAttempts ?? Number.POSITIVE_INFINITY;
  let { concurrency } = options;
  let spawn: Spawn | null = null;
  let lease: Lease | null = null;
  let starting: Promise<void> | null = null;
  let leaving: Promise<void> | null = null;
  /** Ticks just before the newest claim. */
  let claimedAt = 0;
  /** The last claim left slots free. */
  let dry = false;
  let ended = false;
  let hard = false;
  let looking: NodeJS.Timeout | null = null;
  const whenQuiet: (() => void)[] = [];
  const sweeps = new Set<Promise<void>>();

  // Stopped hard, it leaves to a reaper what cannot be written.
  const persist = createPersist(store, (tries) => ended || (hard && tries >= LAST_TRIES), log);

  const trouble = createTrouble({
    probe: async () => {
      if (spawn === null || !(await probeMachine(spawn, paths.logs, id, platform === 'win32'))) return false;
      await store.write((tx) => transitions.heartbeat(tx, id));
      return true;
    },
    onChange: (text) => {
      log(text === null ? 'processes start again' : `claiming nothing for now: ${text}`);
      options.onTrouble?.(text);
      if (text === null) scheduler.wake();
    },
    firstProbeMs: parts.firstProbeMs ?? FIRST_PROBE_MS,
    longestProbeMs: LONGEST_PROBE_MS,
  });

  const attempts = createAttempts({
    ...common,
    options,
    persist,
    spawn: () => spawn,
    onFree: () => scheduler.wake(),
    onDiscarded: () => {
      attemptsLeft += 1;
      scheduler.wake();
    },
    onRecorded: noticeQuiet,
    onTrouble: (text) => trouble.report(text),
  });

  const scheduler = createScheduler({
    clock,
    free: () =>
      trouble.current() === null ? Math.max(0, Math.min(concurrency - attempts.running(), attemptsLeft)) : 0,
    claim,
    run: (claimed) => {
      attemptsLeft -= 1;
      attempts.begin(claimed, claimedAt);
      // A cancel may have been committed along with the claim.
      lookSoon();
    },
    nextDue: () => store.read((reader) => queries.nextDue(reader, lanes)),
    onDry: () => {
      dry = true;
      noticeQuiet();
    },
    onError: (error) => trouble.report(`cannot claim jobs: ${(error as Error).message}`),
  });

  const reaper = createReaper({
    ...common,
    here: host,
    leaseBeats: Math.max(1, Math.ceil(leaseMs / heartbeatMs)),
    ownPid: process.pid,
    registered: () => store.read((reader) => queries.registrations(reader)),
    running: () => store.read((reader) => queries.runningAttempts(reader)),
    takeOver: (owner) => persist('a take-over', (tx) => transitions.takeOver(tx, owner, id)),
    recordProcess: (owner, begun) => persist('a lost process', (tx) => transitions.started(tx, owner, begun)),
    close: async (owner, sizes) => {
      const result = await persist('a reaped attempt', (tx) => transitions.closeReaped(tx, owner, sizes));
      scheduler.wake();
      if (result.applied && result.settleMore) await attempts.settle();
    },
    remove: (workerId) => persist('a gone worker', (tx) => transitions.removeWorker(tx, workerId)),
  });

  async function claim(limit: number): Promise<Claimed[]> {
    dry = false;
    point('claim:before');
    const write = () => {
      claimedAt = clock.ticks();
      return store.write((tx) => transitions.claim(tx, { workerId: id, lanes, slots, limit }));
    };
    let claimed: Claimed[];
    try {
      claimed = await write();
    } catch (error) {
      if (!(error instanceof LanewayError && error.code === 'CONFLICT')) throw error;
      await register();
      claimed = await write();
    }
    if (claimed.length > 0) point('claim:after');
    return claimed;
  }

  /** Also once more, after others took this worker for gone: its jobs moved on, it starts afresh. */
  async function register(): Promise<void> {
    const identity = await ownIdentity(process.pid, processes);
    await store.write((tx) =>
      transitions.registerWorker(tx, { id, kind, lanes, slots, concurrency, ...host, ...identity }),
    );
  }

  async function beat(): Promise<void> {
    try {
      const known = await store.write((tx) => transitions.heartbeat(tx, id));
      if (!known) await register();
      attempts.look();
      scheduler.beat();
      sweep();
    } catch (error) {
      log(`the lease was not renewed: ${(error as Error).message}`);
    }
  }

  /** Not awaited by the beat: a group that is slow to go must not hold up the next heartbeat. */
  function sweep(): void {
    const sweeping = reaper
      .sweep()
      .catch((error: unknown) => log(`reaping failed: ${(error as Error).message}`))
      .finally(() => sweeps.delete(sweeping));
    sweeps.add(sweeping);
  }

  /** A little later: by then every claimed job is known here, and a burst of commits costs one look. */
  function lookSoon(): void {
    looking ??= setTimeout(() => {
      looking = null;
      if (!ended) attempts.look();
    }, LOOK_MS);
  }

  function isQuiet(): boolean {
    return attempts.running() === 0 && attempts.recording() === 0;
  }

  function noticeQuiet(): void {
    if (!isQuiet()) return;
    for (const resolve of whenQuiet.splice(0)) resolve();
    if (dry || attemptsLeft <= 0) options.onIdle?.();
  }

  async function drain(): Promise<void> {
    await scheduler.close();
    if (isQuiet()) return;
    await new Promise<void>((resolve) => {
      whenQuiet.push(resolve);
    });
  }

  async function start(): Promise<void> {
    const real = await createSpawn(platform);
    spawn = parts.wrapSpawn?.(real) ?? real;
    refuseForeign(
      store.read((reader) => queries.runningAttempts(reader)),
      host,
    );
    await register();
    lease = keepLease(heartbeatMs, beat);
    sweep();
    scheduler.wake();
  }

  async function leave(): Promise<void> {
    await starting?.catch(() => undefined);
    await drain();
    await lease?.stop();
    await Promise.all(sweeps);
    trouble.stop();
    ended = true;
    if (looking !== null) clearTimeout(looking);
    if (lease === null) return;
    // What cannot be written now is a reaper's: the next worker finds this one gone.
    await store
      .write((tx) => transitions.removeWorker(tx, id))
      .catch((error: unknown) => log(`still on the list of workers: ${(error as Error).message}`));
  }

  return {
    id,
    start: () => (starting ??= start()),
    wake: () => {
      if (lease === null || ended) return;
      scheduler.wake();
      if (attempts.running() > 0) lookSoon();
    },
    drain,
    stop: ({ graceful }) => {
      if (!graceful) {
        hard = true;
        attempts.stopAll();
      }
      return (leaving ??= leave());
    },
    running: () => attempts.running(),
    setConcurrency: (now) => {
      if (now === concurrency) return;
      concurrency = now;
      if (lease === null || ended) return;
      scheduler.wake();
      store
        .write((tx) => transitions.setConcurrency(tx, id, now))
        .catch((error: unknown) => log(`status shows an old limit of jobs: ${(error as Error).message}`));
    },
  };
}
