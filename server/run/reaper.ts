/**
 * Closing the attempts of workers that are gone, in three steps that each survive a death in
 * between: take the ownership, so that the old owner can write nothing more; stop the group and see
 * it gone; close the attempt. A reaper that dies on the way owns the attempt, and is reaped itself.
 *
 * A worker may have died between starting a process and recording it. Then the process is known by
 * the marks in its environment and by the log it writes to (Linux), and its log by its name.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LanewayError } from '../../shared/errors.ts';
import { discardLogs, logSizes } from '../logs/open.ts';
import { logPaths } from '../logs/paths.ts';
import type { LogPaths } from '../logs/paths.ts';
import type { HostIdentity, LogSizes, Owner, Registration, RunningAttempt } from '../store/api.ts';
import { LOOK_AGAIN_MS, stopGroup } from './group.ts';
import type { GroupTools, Leader } from './group.ts';
import { countStill, judge, whereabouts } from './judge.ts';
import type { Pulse, Verdict } from './judge.ts';
import type { Point } from './points.ts';
import type { ProcessInfo } from './processes.ts';
import type { Begun } from './attempt.ts';
import type { WorkerPaths } from './contract.ts';

export interface ReaperTools extends GroupTools {
  workerId: string;
  here: HostIdentity;
  paths: WorkerPaths;
  /** Own beats that make a lease. */
  leaseBeats: number;
  point: Point;
  ownPid: number;
  registered(): Registration[];
  running(): RunningAttempt[];
  /** The store's writes, each retried by the worker until it is in. */
  takeOver(owner: Owner): Promise<Owner | null>;
  recordProcess(owner: Owner, begun: Omit<Begun, 'pid'> & { pid: number | null }): Promise<boolean>;
  close(owner: Owner, sizes: LogSizes): Promise<void>;
  /** Take a worker that owns nothing off the list. */
  remove(workerId: string): Promise<void>;
}

export interface Reaper {
  /** Look once, and reap what is to be reaped. Resolves when that is done. */
  sweep(): Promise<void>;
}

/** @throws LanewayError ENVIRONMENT when a job of this queue runs on another host or in another namespace. */
export function refuseForeign(running: RunningAttempt[], here: HostIdentity): void {
  const foreign = running.find((attempt) => whereabouts(attempt, here) === 'elsewhere');
  if (foreign === undefined) return;
  const where =
    foreign.host === here.host ? 'in another container or pid namespace of this host' : `on host ${foreign.host}`;
  throw new LanewayError(
    'ENVIRONMENT',
    `job ${foreign.jobId} of this queue is running ${where}, where this process can neither see nor stop it`,
    'Use the queue there, or stop its server there first; a queue belongs to one machine. ' +
      'If that machine or container is gone for good: lane workspaces release PATH --yes',
  );
}

export function createReaper(tools: ReaperTools): Reaper {
  let pulses = new Map<string, Pulse>();
  /** Workers whose jobs are being taken care of. */
  const busy = new Set<string>();

  const verdictOf = async (worker: Registration): Promise<Verdict> => {
    const holder = await tools.processes.find(worker.pid);
    return judge(worker, tools.here, holder, pulses.get(worker.id)?.still ?? 0, tools.leaseBeats);
  };

  const clear = async (workerId: string, verdict: Verdict, owned: RunningAttempt[]): Promise<void> => {
    if (verdict === 'alive' || verdict === 'elsewhere' || busy.has(workerId)) return;
    busy.add(workerId);
    try {
      tools.log(`worker ${workerId} is ${verdict}; it owned ${owned.length} running jobs`);
      await Promise.all(owned.map((attempt) => reap(attempt, tools)));
      await tools.remove(workerId);
    } finally {
      busy.delete(workerId);
    }
  };

  return {
    sweep: async () => {
      const workers = tools.registered().filter(({ id }) => id !== tools.workerId);
      pulses = countStill(pulses, workers);
      const known = new Set([tools.workerId, ...workers.map(({ id }) => id)]);
      const running = tools.running().filter((attempt) => whereabouts(attempt, tools.here) !== 'elsewhere');
      const lost = running.filter(({ workerId }) => !known.has(workerId));
      await Promise.all([
        ...workers.map(async (worker) => {
          const owned = running.filter(({ workerId }) => workerId === worker.id);
          await clear(worker.id, await verdictOf(worker), owned);
        }),
        ...lost.map((attempt) => clear(attempt.workerId, 'gone', [attempt])),
      ]);
    },
  };
}

async function reap(attempt: RunningAttempt, tools: ReaperTools): Promise<void> {
  const { point } = tools;
  point('reap:before');
  const owner = await tools.takeOver(attempt);
  if (owner === null) return;
  point('reap:taken');
  const files = filesOf(attempt, tools.paths.logs);
  const mayLive = whereabouts(attempt, tools.here) === 'here';
  const leaders = mayLive ? await leadersOf(attempt, files, tools) : [];
  if (attempt.pid === null) await recordLost(owner, leaders[0] ?? null, files, tools);
  await Promise.all(leaders.map((leader) => stopGroup(leader, { graceMs: attempt.cancelGraceMs }, tools)));
  point('reap:killed');
  await tools.close(owner, logSizes(files));
  point('reap:after');
}

/** The recorded process, else whatever carries the attempt's marks; looks until it could look. */
async function leadersOf(attempt: RunningAttempt, files: LogPaths, tools: ReaperTools): Promise<Leader[]> {
  if (attempt.pid !== null) return [{ pid: attempt.pid, startTime: attempt.pidStartTime, own: false }];
  // Not its worker and fence: another reaper may have owned it in between.
  const marks = {
    LANEWAY_JOB_ID: String(attempt.jobId),
    LANEWAY_ATTEMPT: String(attempt.attempt),
    LANEWAY_WORKSPACE: tools.paths.workspace,
    LANEWAY_HOME: tools.paths.home,
  };
  for (;;) {
    try {
      const found = tools.processes.marked(marks, [files.stdout, files.stderr]);
      return sessionLeaders(found.filter(({ pid }) => pid !== tools.ownPid));
    } catch (error) {
      // This reaper owns the attempt by now: given up here, nobody would close it while this process lives.
      tools.log(`cannot list processes: ${(error as Error).message}`);
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/** One leader per session; where it has ended, the oldest member found dates it. */
export function sessionLeaders(members: ProcessInfo[]): Leader[] {
  const leaders = new Map<number, Leader>();
  const byAge = members.toSorted((a, b) => (BigInt(a.startTime) < BigInt(b.startTime) ? -1 : 1));
  for (const { pid, session, startTime } of byAge) {
    if (!leaders.has(session)) leaders.set(session, { pid: session === 0 ? pid : session, startTime, own: false });
  }
  return [...leaders.values()];
}

/** What the worker died too early to record: the output is kept, and can be read. */
async function recordLost(owner: Owner, leader: Leader | null, files: LogPaths, tools: ReaperTools): Promise<void> {
  const { stdoutBytes, stderrBytes } = logSizes(files);
  if (leader === null && !stdoutBytes && !stderrBytes) {
    discardLogs(files);
    return;
  }
  await tools.recordProcess(owner, {
    pid: leader?.pid ?? null,
    startTime: leader?.startTime ?? null,
    stdoutPath: files.stdout,
    stderrPath: files.stderr,
  });
}

/** By name: whether the job is split shows in which files there are. */
function filesOf({ jobId, attempt }: RunningAttempt, logs: string): LogPaths {
  const split = logPaths(logs, jobId, attempt, true);
  return logSizes(split).stdoutBytes === null ? logPaths(logs, jobId, attempt, false) : split;
}
