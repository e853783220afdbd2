/**
 * Stopping what an attempt started: TERM, its grace, KILL, and looking until nothing is left.
 *
 * A group is gone when it has no member but zombies; `kill(-pgid, 0)` cannot tell that, since it
 * succeeds for zombies. A pid may have passed to a stranger meanwhile: it cannot while any member
 * of the old session lives, so a leader with another start time means that the group is gone.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../store/api.ts';
import { startedNoEarlier } from './processes.ts';
import type { ProcessInfo, Processes } from './processes.ts';
import type { RunTool } from './tool.ts';

/** The process that an attempt started; its pid is the id of the group and of the session. */
export interface Leader {
  pid: number;
  startTime: string | null;
  /** This process spawned it and saw it live: without a start time, its pid still is its own. */
  own: boolean;
}

/**
 * The living members of a leader's group and session. With the leader dead only those that
 * started no earlier than it did: others are of a later session that took the same number.
 */
export function groupMembers(all: ProcessInfo[], leader: Leader): ProcessInfo[] {
  const { pid, startTime, own } = leader;
  const holder = all.find((info) => info.pid === pid);
  const known = startTime ?? (own ? (holder?.startTime ?? '0') : null);
  if (known === null) return [];
  if (holder !== undefined && holder.startTime !== known) return [];
  return all.filter(
    (info) =>
      !info.zombie &&
      (info.session === pid || info.group === pid || info.pid === pid) &&
      startedNoEarlier(info.startTime, known),
  );
}

/** On Windows, where there are no groups: the process and its descendants, by parent and start time. */
export function treeMembers(all: ProcessInfo[], leader: Leader): ProcessInfo[] {
  const { pid, startTime } = leader;
  if (startTime === null) return [];
  const root = all.find((info) => info.pid === pid);
  if (root !== undefined && root.startTime !== startTime) return [];
  const members = root === undefined ? [] : [root];
  const from = [{ pid, startTime }];
  for (let parent = from.pop(); parent !== undefined; parent = from.pop()) {
    for (const info of all) {
      if (info.parent !== parent.pid || members.includes(info)) continue;
      if (!startedNoEarlier(info.startTime, parent.startTime)) continue;
      members.push(info);
      from.push(info);
    }
  }
  return members;
}

export interface GroupTools {
  platform: NodeJS.Platform;
  processes: Processes;
  tool: RunTool;
  clock: Clock;
  /** `process.kill`. */
  kill: (pid: number, signal: NodeJS.Signals) => void;
  log: (message: string) => void;
}

export interface StopGroup {
  graceMs: number;
  /** Just before the first signal goes out. */
  onSignal?: () => void;
  onTermed?: () => void;
  /** Somebody else deals with this group now: look no more. */
  isOver?: () => boolean;
}

/** Longest pause between two looks; the first ones follow within milliseconds. */
const LOOK_MS = 100;
/** Pause after a look that failed. */
export const LOOK_AGAIN_MS = 1000;
/** A line in the log when a killed group still stands after this long. */
const STUBBORN_MS = 10_000;

/**
 * Stop a group and resolve once it is confirmed gone. Never gives up on a group that cannot be
 * killed (a process in an uninterruptible wait): the caller's slot stays taken, the log says why.
 */
export async function stopGroup(leader: Leader, options: StopGroup, tools: GroupTools): Promise<void> {
  const { clock } = tools;
  let termedAt: number | null = null;
  let complained = false;
  for (let wait = 2; ; wait = Math.min(wait * 2, LOOK_MS)) {
    const members = await membersOf(leader, tools);
    if (members.length === 0 || options.isOver?.() === true) return;
    if (tools.platform === 'win32') {
      if (termedAt === null) options.onSignal?.();
      termedAt ??= clock.ticks();
      await tools.tool('taskkill', ['/PID', String(leader.pid), '/T', '/F'], null);
      for (const { pid } of members) send(tools, pid, 'SIGKILL');
    } else if (termedAt === null) {
      options.onSignal?.();
      termedAt = clock.ticks();
      signalMembers(tools, leader, members, 'SIGTERM');
      // A stopped process takes its TERM only once it goes on.
      signalMembers(tools, leader, members, 'SIGCONT');
      options.onTermed?.();
    } else if (clock.ticks() - termedAt >= options.graceMs) {
      signalMembers(tools, leader, members, 'SIGKILL');
    }
    const standing = clock.ticks() - termedAt - options.graceMs;
    if (standing > STUBBORN_MS && !complained) {
      complained = true;
      tools.log(`group ${leader.pid} still runs after SIGKILL: ${members.map(({ pid }) => pid).join(', ')}`);
    }
    await pause(standing < 0 ? Math.min(wait, -standing) : wait);
  }
}

/** What cannot be looked at (no descriptor left to read with) is not gone: look until it can be. */
async function membersOf(leader: Leader, { platform, processes, log }: GroupTools): Promise<ProcessInfo[]> {
  for (;;) {
    try {
      const all = await processes.list();
      return platform === 'win32' ? treeMembers(all, leader) : groupMembers(all, leader);
    } catch (error) {
      log(`cannot list processes: ${(error as Error).message}`);
      await pause(LOOK_AGAIN_MS);
    }
  }
}

/**
 * With the leader there, its group in one call, which no fork outruns; then whoever of the session
 * made a group of their own. With the leader dead, member by member, as only they are known.
 */
function signalMembers(tools: GroupTools, leader: Leader, members: ProcessInfo[], signal: NodeJS.Signals): void {
  const whole = members.some((info) => info.pid === leader.pid);
  if (whole) send(tools, -leader.pid, signal);
  for (const { pid, group } of members) {
    if (!whole || group !== leader.pid) send(tools, pid, signal);
  }
}

function send({ kill, log }: GroupTools, pid: number, signal: NodeJS.Signals): void {
  try {
    kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH') log(`cannot send ${signal} to ${pid}: ${code}`);
  }
}
