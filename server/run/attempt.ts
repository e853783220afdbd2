/**
 * One attempt: its logs are opened, its process started on them, and from then on it is only
 * watched: for its end, its timeout, its log limit, and a request to stop it. Nothing here touches
 * the database; the worker records what this tells.
 *
 * The attempt ends when its leader exits. What the leader left running stays after an exit 0, and
 * is stopped after any other ending, because the job may run again.
 */
import { LOG_LIMIT_CHECK_MS } from '../../shared/limits.ts';
import type { AttemptEnd, Claimed, LogSizes } from '../store/api.ts';
import { closeLogs, discardLogs, logSizes, openLogs } from '../logs/open.ts';
import type { OpenLogs } from '../logs/open.ts';
import { logPaths } from '../logs/paths.ts';
import type { LogPaths } from '../logs/paths.ts';
import { jobEnvironment } from './environment.ts';
import { stopGroup } from './group.ts';
import type { GroupTools, Leader } from './group.ts';
import { mustClearGroup, outcome } from './outcome.ts';
import type { Exit, Stop } from './outcome.ts';
import type { Point } from './points.ts';
import type { Spawn, Spawned } from './spawn.ts';
import { machineTrouble } from './spawnFailure.ts';
import type { SpawnFailure } from './spawnFailure.ts';
import { atTick } from './timer.ts';
import type { WorkerPaths } from './contract.ts';

export interface AttemptTools extends GroupTools {
  spawn: Spawn;
  paths: WorkerPaths;
  /** Bytes. */
  logLimit: number;
  point: Point;
}

/** What there is to record once the process runs. */
export interface Begun {
  pid: number;
  startTime: string | null;
  stdoutPath: string;
  stderrPath: string;
}

export interface AttemptRun {
  readonly claimed: Claimed;
  /** Settles once the process runs, before `ended` does. Null: it never ran. */
  readonly begun: Promise<Begun | null>;
  /** How it ended, its group being gone where it must be. Null: it was let go. Never rejects. */
  readonly ended: Promise<AttemptEnd | null>;
  /** Stop the group: TERM, the job's grace, KILL. Only the first reason counts. */
  stop(stop: Stop): void;
  /** Somebody else owns the job now: watch no more, signal nothing more, end with null. */
  letGo(): void;
}

/** Starts synchronously: when this returns, the process runs or has failed to start. */
export function runAttempt(claimed: Claimed, tools: AttemptTools): AttemptRun {
  const { point, paths } = tools;
  const files = logPaths(paths.logs, claimed.jobId, claimed.attempt, claimed.split);
  let logs: OpenLogs;
  try {
    logs = openLogs(files);
  } catch (error) {
    return unstarted(claimed, Promise.resolve(logTrouble(error)));
  }
  point('spawn:before');
  let spawned: Spawned;
  try {
    const env = jobEnvironment(claimed, paths, tools.platform);
    const { argv, cwd, umask } = claimed;
    spawned = tools.spawn({ argv, cwd, env, umask, ...logs.descriptors });
  } finally {
    closeLogs(logs);
  }
  if (!spawned.started) {
    discardLogs(files);
    return unstarted(claimed, spawned.failure);
  }
  point('spawn:after');
  return watch(claimed, spawned.pid, spawned.exited, files, tools);
}

/** A folder of logs that cannot be written is never the job's fault. */
function logTrouble(error: unknown): SpawnFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  return { kind: 'machine_trouble', error: `cannot open its log: ${machineTrouble(code) ?? message}` };
}

const NOTHING_WRITTEN: LogSizes = { stdoutBytes: null, stderrBytes: null };

function unstarted(claimed: Claimed, failure: Promise<SpawnFailure>): AttemptRun {
  return {
    claimed,
    begun: Promise.resolve(null),
    ended: failure.then(({ kind, error }) => ({
      kind,
      error,
      exitCode: null,
      signal: null,
      signalled: false,
      ...NOTHING_WRITTEN,
    })),
    stop: () => undefined,
    letGo: () => undefined,
  };
}

function watch(claimed: Claimed, pid: number, exited: Promise<Exit>, files: LogPaths, tools: AttemptTools): AttemptRun {
  const { clock, point } = tools;
  const leader: Leader = { pid, startTime: null, own: true };
  const watchers: (() => void)[] = [];
  const unwatch = () => {
    for (const off of watchers.splice(0)) off();
  };
  let stopped: Stop | null = null;
  let signalled = false;
  let exit: Exit | null = null;
  let stopping: Promise<void> | null = null;
  let released = false;
  const letGo = Promise.withResolvers<null>();

  // On Linux this reads /proc before it returns, so even a process that ended already is identified.
  const identified = tools.processes.find(pid).catch(() => null);
  const begun = identified.then((info) => {
    leader.startTime = info?.startTime ?? null;
    return { pid, startTime: leader.startTime, stdoutPath: files.stdout, stderrPath: files.stderr };
  });

  const clearGroup = (first: () => void): Promise<void> =>
    stopGroup(
      leader,
      {
        graceMs: claimed.cancelGraceMs,
        onSignal: first,
        onTermed: () => point('cancel:after-term'),
        isOver: () => released,
      },
      tools,
    );

  const stop = (reason: Stop) => {
    if (stopped !== null || exit !== null || released) return;
    stopped = reason;
    unwatch();
    point('cancel:before-term');
    stopping = clearGroup(() => {
      // An exit that came in meanwhile was its own choice; what is signalled are its leftovers.
      if (exit === null) signalled = true;
    });
  };

  const end = async (): Promise<AttemptEnd> => {
    const seen = await exited;
    exit = seen;
    unwatch();
    if (stopping !== null) {
      await stopping;
      point('cancel:gone');
    } else if (mustClearGroup(seen)) {
      await clearGroup(() => undefined);
    }
    await begun;
    return outcome(seen, stopped, signalled, logSizes(files));
  };

  if (claimed.timeoutMs !== null) {
    const { timeoutMs } = claimed;
    watchers.push(atTick(clock, clock.ticks() + timeoutMs, () => stop({ reason: 'timeout', timeoutMs })));
  }
  if (Number.isFinite(tools.logLimit)) {
    watchers.push(watchSize(files, tools.logLimit, (limit) => stop({ reason: 'log_limit', limit })));
  }
  return {
    claimed,
    begun,
    ended: Promise.race([end(), letGo.promise]),
    stop,
    letGo: () => {
      released = true;
      unwatch();
      letGo.resolve(null);
    },
  };
}

function watchSize(files: LogPaths, limit: number, over: (limit: number) => void): () => void {
  const timer = setInterval(() => {
    const { stdoutBytes, stderrBytes } = logSizes(files);
    const both = (stdoutBytes ?? 0) + (files.stderr === files.stdout ? 0 : (stderrBytes ?? 0));
    if (both > limit) over(limit);
  }, LOG_LIMIT_CHECK_MS);
  return () => clearInterval(timer);
}
