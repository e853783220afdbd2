/**
 * Closing the attempts of workers that are gone, in three steps that each survive a death in
 * between: take the ownership, so that the old owner can write nothing more; stop the group and see
 * it gone; close the attempt. A reaper that dies on the way owns the attempt, and is reaped itself.
 *
 * A worker may have died between starting a process and recording it. Then the process is known by
 * the marks in its environment and by the log it writes to (Linux), and its log by its name.
 */
import { LanewayError } from '../../shared/errors.ts';
import { discardLogs, logSizes } from '../logs/open.ts';
import { logPaths } from '../logs/paths.ts';
import type { LogPaths } from '../logs/paths.ts';
import type { FinishResult, HostIdentity, LogSizes, Owner, RunningAttempt } from '../store/api.ts';
import { stopGroup } from './group.ts';
import type { GroupTools, Leader } from './group.ts';
import { countStill, judge, whereabouts } from './judge.ts';
import type { Pulse } from './judge.ts';
import type { Point } from './points.ts';
import type { ProcessInfo } from './processes.ts';
import type { Begun } from './attempt.ts';
import type { WorkerPaths } from './worker.ts';

export interface ReaperTools extends GroupTools {
  workerId: string;
  here: HostIdentity;
  paths: WorkerPaths;
  /** Own beats that make a lease. */
  leaseBeats: number;
  point: Point;
  ownPid: number;
  running(): RunningAttempt[];
  /** The store's writes, each retried by the worker until it is in. */
  takeOver(owner: Owner): Promise<Owner | null>;
  recordProcess(owner: Owner, begun: Omit<Begun, 'pid'> & { pid: number | null }): Promise<boolean>;
  close(owner: Owner, sizes: LogSizes): Promise<FinishResult>;
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
    'Use the queue there, or stop its server there first; a queue belongs to one machine.',
  );
}

export function createReaper(tools: ReaperTools): Reaper {
  let pulses = new Map<string, Pulse>();
  const reaping = new Set<string>();

  const verdict = async (attempt: RunningAttempt) => {
    const holder = await tools.processes.find(attempt.workerPid);
    const still = pulses.get(attempt.workerId)?.still ?? 0;
    return judge(attempt, tools.here, holder, still, tools.leaseBeats);
  };

  const consider = async (attempt: RunningAttempt): Promise<void> => {
    const key = `${attempt.jobId}.${attempt.attempt}`;
    if (reaping.has(key)) return;
    reaping.add(key);
    try {
      const found = await verdict(attempt);
      if (found === 'alive' || found === 'elsewhere') return;
      tools.log(`job ${attempt.jobId} attempt ${attempt.attempt}: its worker ${attempt.workerId} is ${found}`);
      await reap(attempt, found !== 'other_boot', tools);
    } finally {
      reaping.delete(key);
    }
  };

  return {
    sweep: async () => {
      const others = tools.running().filter(({ workerId }) => workerId !== tools.workerId);
      pulses = countStill(pulses, others);
      await Promise.all(others.map(consider));
    },
  };
}

async function reap(attempt: RunningAttempt, mayLive: boolean, tools: ReaperTools): Promise<void> {
  const { point } = tools;
  point('reap:before');
  const owner = await tools.takeOver(attempt);
  if (owner === null) return;
  point('reap:taken');
  const files = filesOf(attempt, tools.paths.logs);
  const leaders = mayLive ? leadersOf(attempt, files, tools) : [];
  if (attempt.pid === null) await recordLost(owner, leaders[0] ?? null, files, tools);
  await Promise.all(leaders.map((leader) => stopGroup(leader, { graceMs: attempt.cancelGraceMs }, tools)));
  point('reap:killed');
  await tools.close(owner, logSizes(files));
  point('reap:after');
}

/** The recorded process, else whatever carries the attempt's marks. */
function leadersOf(attempt: RunningAttempt, files: LogPaths, tools: ReaperTools): Leader[] {
  if (attempt.pid !== null) return [{ pid: attempt.pid, startTime: attempt.pidStartTime, own: false }];
  // Not its worker and fence: another reaper may have owned it in between.
  const marks = {
    LANEWAY_JOB_ID: String(attempt.jobId),
    LANEWAY_ATTEMPT: String(attempt.attempt),
    LANEWAY_WORKSPACE: tools.paths.workspace,
    LANEWAY_HOME: tools.paths.home,
  };
  const found = tools.processes.marked(marks, [files.stdout, files.stderr]);
  return sessionLeaders(found.filter(({ pid }) => pid !== tools.ownPid));
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
