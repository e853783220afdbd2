/**
 * A worker: claims jobs, runs an attempt of each, records what became of it. It keeps in memory
 * only what the database cannot hold, the processes themselves; a worker that dies at any
 * instruction loses nothing that its successor cannot find.
 *
 * Every write names the owner (job, attempt, worker, fence). When one finds no row, the job has
 * another owner, and this worker lets go of the attempt: no signal, no late result.
 */
import { randomBytes } from 'node:crypto';
import { HEARTBEAT_MS, LEASE_MS } from '../../shared/limits.ts';
import type { AttemptState, JobState } from '../../shared/job.ts';
import type { AttemptEnd, Claimed, Clock, HostIdentity, Owner, Store } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';
import { runAttempt } from './attempt.ts';
import type { AttemptRun } from './attempt.ts';
import { ownIdentity } from './host.ts';
import { keepLease } from './lease.ts';
import type { Lease } from './lease.ts';
import { createPersist } from './persist.ts';
import { noPoint } from './points.ts';
import type { Point } from './points.ts';
import { probeMachine } from './probe.ts';
import { createProcesses } from './processes.ts';
import type { Processes } from './processes.ts';
import { createReaper, refuseForeign } from './reaper.ts';
import { createScheduler } from './scheduler.ts';
import { createSpawn } from './spawn.ts';
import type { Spawn } from './spawn.ts';
import { loadExeca, runTool } from './tool.ts';
import { createTrouble } from './trouble.ts';

/** Where a worker's files and a job's environment point to. */
export interface WorkerPaths {
  workspace: string;
  /** `$LANEWAY_HOME` or its default. */
  home: string;
  /** The workspace's folder of attempt logs. */
  logs: string;
  /** The folder that holds `lane`; first on a job's PATH. Null: PATH stays as captured. */
  laneFolder: string | null;
}

/** One attempt that ended here: the line that `lane work --json` prints. */
export interface FinishedLine {
  jobId: number;
  attempt: number;
  state: AttemptState;
  exitCode: number | null;
  durationMs: number;
  jobState: JobState;
}

export interface WorkerOptions {
  store: Store;
  clock: Clock;
  host: HostIdentity;
  paths: WorkerPaths;
  kind: 'server' | 'work';
  /** The lanes it serves; null for every lane. */
  lanes: string[] | null;
  /** Ceiling per lane on top of the lane's own; null: none. */
  slots: number | null;
  /** Jobs it runs at once. */
  concurrency: number;
  /** Attempts it starts in its whole life (`lane work --once`: 1). Null or absent: no limit. */
  maxAttempts?: number | null;
  /** Bytes of output after which an attempt is stopped; asked at each start. */
  logLimit: () => number;
  /** Trouble of the machine a person should know, in words; null once it is over. */
  onTrouble?: (trouble: string | null) => void;
  onFinished?: (line: FinishedLine) => void;
  /** Nothing runs here, and the last claim found nothing: the moment to ask whether to go on. */
  onIdle?: () => void;
  /** A line for the server's log. */
  log?: (message: string) => void;
  /** Named instants, see points.ts. */
  point?: Point;
}

export interface WorkerHandle {
  readonly id: string;
  /**
   * Register, look for what other workers left behind, begin to claim. Idempotent.
   * @throws LanewayError ENVIRONMENT when jobs of this database run on another host or in another
   * pid namespace.
   */
  start(): Promise<void>;
  /**
   * The database changed (any commit, by any process): claim what can run, carry out cancels.
   * Cheap, coalesced, callable at any time.
   */
  wake(): void;
  /** Claim no more; resolves when nothing runs here. Idempotent. */
  drain(): Promise<void>;
  /**
   * Drain (`graceful`), or stop the jobs' groups with their grace and hand the jobs back to the
   * queue; then take the worker off the list. May be called again with `graceful: false`. Resolves
   * when all of it is written.
   */
  stop(options: { graceful: boolean }): Promise<void>;
  /** How many attempts run here. */
  running(): number;
  /** What keeps it from starting processes, in words; else null. */
  trouble(): string | null;
  /** The setting changed. */
  setConcurrency(concurrency: number): void;
}

/** What tests replace; production leaves all of it as it is. */
export interface WorkerParts {
  platform: NodeJS.Platform;
  processes: Processes;
  spawn: Spawn;
  kill: (pid: number, signal: NodeJS.Signals) => void;
  heartbeatMs: number;
  leaseMs: number;
  firstProbeMs: number;
}

const FIRST_PROBE_MS = 500;
const LONGEST_PROBE_MS = 30_000;

/** A worker on an open store. Nothing happens before `start`. */
export function createWorker(options: WorkerOptions, parts: Partial<WorkerParts> = {}): WorkerHandle {
  const { store, clock, host, paths, kind, lanes, slots, log = () => undefined, point = noPoint } = options;
  const { platform = process.platform, heartbeatMs = HEARTBEAT_MS, leaseMs = LEASE_MS } = parts;
  const id = `${kind}-${process.pid}-${randomBytes(4).toString('hex')}`;
  const tool = runTool;
  const processes = parts.processes ?? createProcesses(platform, tool);
  const groupTools = { platform, processes, tool, clock, kill: parts.kill ?? process.kill.bind(process), log };

  /** By `job.attempt`. A slot is taken from the claim until the attempt has ended. */
  const active = new Map<string, AttemptRun>();
  /** Ends on their way into the database; their slots are free again. */
  let recording = 0;
  let attemptsLeft = options.maxAttempts ?? Number.POSITIVE_INFINITY;
  let { concurrency } = options;
  let spawn: Spawn | null = parts.spawn ?? null;
  let dry = false;
  let ended = false;
  let hardStop = false;
  const whenQuiet: (() => void)[] = [];

  const persist = createPersist(store, () => ended, log);

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

  const scheduler = createScheduler({
    clock,
    free: () => (trouble.current() === null ? Math.max(0, Math.min(concurrency - active.size, attemptsLeft)) : 0),
    claim: async (limit) => {
      dry = false;
      point('claim:before');
      const claimed = await store.write((tx) => transitions.claim(tx, { workerId: id, lanes, slots, limit }));
      if (claimed.length > 0) point('claim:after');
      return claimed;
    },
    run: (claimed) => begin(claimed),
    nextDue: () => store.read((reader) => queries.nextDue(reader, lanes)),
    onDry: () => {
      dry = true;
      noticeQuiet();
    },
    onError: (error) => trouble.report(`cannot claim jobs: ${(error as Error).message}`),
  });

  const reaper = createReaper({
    ...groupTools,
    workerId: id,
    here: host,
    paths,
    leaseBeats: Math.max(1, Math.ceil(leaseMs / heartbeatMs)),
    point,
    ownPid: process.pid,
    running: () => store.read((reader) => queries.runningAttempts(reader)),
    takeOver: (owner) => persist('a take-over', (tx) => transitions.takeOver(tx, owner, id)),
    recordProcess: (owner, begun) => persist('a lost process', (tx) => transitions.started(tx, owner, begun)),
    close: async (owner, sizes) => {
      const result = await persist('a reaped attempt', (tx) => transitions.closeReaped(tx, owner, sizes));
      if (result.applied && result.settleMore) await settleAll();
      scheduler.wake();
      return result;
    },
  });

  function begin(claimed: Claimed): void {
    attemptsLeft -= 1;
    if (spawn === null || hardStop) {
      recording += 1;
      void record(claimed, STOPPED_UNSTARTED, clock.ticks());
      return;
    }
    const since = clock.ticks();
    const run = runAttempt(claimed, { ...groupTools, spawn, paths, logLimit: options.logLimit(), point });
    const key = keyOf(claimed);
    active.set(key, run);
    const recorded = recordStart(run);
    void run.ended.then(async (end) => {
      await recorded;
      active.delete(key);
      recording += 1;
      point('exit:before-finish');
      if (end?.kind === 'machine_trouble') trouble.report(end.error ?? 'processes cannot be started');
      await record(claimed, end, since);
    });
    // A cancel may have been committed along with the claim.
    lookSoon();
  }

  async function recordStart(run: AttemptRun): Promise<void> {
    const begun = await run.begun;
    if (begun === null) return;
    try {
      const owned = await persist('a start', (tx) => transitions.started(tx, run.claimed, begun));
      if (!owned) run.letGo();
      point('started:after');
    } catch (error) {
      log(`job ${run.claimed.jobId}: its start is not recorded: ${(error as Error).message}`);
    }
  }

  /** Hands the end to the store and claims in the same tick: both share one transaction. */
  async function record(claimed: Claimed, end: AttemptEnd | null, since: number): Promise<void> {
    const writing = end === null ? null : persist('an end', (tx) => transitions.finish(tx, claimed, end));
    scheduler.wake();
    try {
      const result = await writing;
      if (result === null || end === null || !result.applied) {
        log(`job ${claimed.jobId} attempt ${claimed.attempt}: it has another owner by now; its end is discarded`);
        return;
      }
      point('finish:after');
      options.onFinished?.({
        jobId: claimed.jobId,
        attempt: claimed.attempt,
        state: result.attemptState,
        exitCode: end.exitCode,
        durationMs: Math.round(clock.ticks() - since),
        jobState: result.jobState,
      });
      if (result.settleMore) await settleAll();
    } catch (error) {
      log(`job ${claimed.jobId} attempt ${claimed.attempt}: its end is not recorded: ${(error as Error).message}`);
    } finally {
      recording -= 1;
      noticeQuiet();
    }
  }

  async function settleAll(): Promise<void> {
    while (await persist('what follows from an end', (tx) => transitions.settle(tx)));
  }

  function noticeQuiet(): void {
    if (active.size > 0 || recording > 0) return;
    for (const resolve of whenQuiet.splice(0)) resolve();
    if (dry || attemptsLeft <= 0) options.onIdle?.();
  }

  async function quiet(): Promise<void> {
    await scheduler.close();
    if (active.size === 0 && recording === 0) return;
    await new Promise<void>((resolve) => {
      whenQuiet.push(resolve);
    });
  }

  /** Carries out cancels, and lets go of what moved to another owner. */
  function look(): void {
    looking = null;
    if (active.size === 0 || ended) return;
    const owned = new Map(
      store.read((reader) => queries.ownedState(reader, id)).map((row) => [keyOf(row), row] as const),
    );
    for (const [key, run] of active) {
      const row = owned.get(key);
      if (row === undefined || row.fence !== run.claimed.fence) run.letGo();
      else if (row.cancelRequested) run.stop({ reason: 'cancel' });
    }
  }
  let looking: NodeJS.Immediate | null = null;
  function lookSoon(): void {
    looking ??= setImmediate(look);
  }

  async function register(): Promise<void> {
    const identity = await ownIdentity(process.pid, processes);
    await store.write((tx) =>
      transitions.registerWorker(tx, { id, kind, lanes, slots, concurrency, ...host, ...identity }),
    );
  }

  async function beat(): Promise<void> {
    try {
      const known = await store.write((tx) => transitions.heartbeat(tx, id));
      // Reaped while this process stood still: its jobs moved on, and it starts afresh.
      if (!known) await register();
      look();
      scheduler.beat();
      sweep();
    } catch (error) {
      log(`the lease was not renewed: ${(error as Error).message}`);
    }
  }

  // A group that is slow to go must not hold up the next heartbeat.
  const sweeps = new Set<Promise<void>>();
  function sweep(): void {
    const sweeping = reaper
      .sweep()
      .catch((error: unknown) => log(`reaping failed: ${(error as Error).message}`))
      .finally(() => sweeps.delete(sweeping));
    sweeps.add(sweeping);
  }

  let lease: Lease | null = null;
  let starting: Promise<void> | null = null;
  let leaving: Promise<void> | null = null;

  async function start(): Promise<void> {
    spawn ??= createSpawn(await loadExeca());
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
    await quiet();
    await lease?.stop();
    await Promise.all(sweeps);
    trouble.stop();
    ended = true;
    if (looking !== null) clearImmediate(looking);
    if (lease !== null) await store.write((tx) => transitions.removeWorker(tx, id));
  }

  return {
    id,
    start: () => (starting ??= start()),
    wake: () => {
      if (lease === null || ended) return;
      scheduler.wake();
      lookSoon();
    },
    drain: quiet,
    stop: ({ graceful }) => {
      if (!graceful) {
        hardStop = true;
        for (const run of active.values()) run.stop({ reason: 'stop' });
      }
      return (leaving ??= leave());
    },
    running: () => active.size,
    trouble: () => trouble.current(),
    setConcurrency: (now) => {
      concurrency = now;
      scheduler.wake();
    },
  };
}

const STOPPED_UNSTARTED: AttemptEnd = {
  kind: 'stopped',
  exitCode: null,
  signal: null,
  error: 'its worker was told to stop before it started',
  stdoutBytes: null,
  stderrBytes: null,
  signalled: true,
};

function keyOf({ jobId, attempt }: Pick<Owner, 'jobId' | 'attempt'>): string {
  return `${jobId}.${attempt}`;
}
