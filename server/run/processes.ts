/**
 * What runs on this machine, as far as a queue must know: a pid is reused, so a process is its
 * pid and its start time, and a group is gone when only zombies are left of it.
 *
 * Linux reads /proc, macOS asks `ps`, Windows asks PowerShell. The texts are parsed by pure
 * functions, so that every platform's parser is tested on every platform.
 *
 * Start times are decimal strings that only compare with one another on one boot of one machine:
 * clock ticks since boot on Linux, seconds since the epoch on macOS, 100 ns units on Windows.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { RunTool } from './tool.ts';

export interface ProcessInfo {
  pid: number;
  parent: number;
  /** Process group; 0 where there are none. */
  group: number;
  /** Session; 0 where it is not known. */
  session: number;
  /** Ended, and not yet collected by its parent. */
  zombie: boolean;
  startTime: string;
}

export interface Processes {
  /** Null: no such process (a zombie is one). */
  find(pid: number): Promise<ProcessInfo | null>;
  list(): Promise<ProcessInfo[]>;
  /** Processes of this user whose environment holds all of `marks`, or that write to `logs`. Linux only; else none. */
  marked(marks: Record<string, string>, logs: string[]): ProcessInfo[];
}

/** One line of /proc/PID/stat; the command's name may hold spaces and parentheses. Null: not such a line. */
export function parseStat(text: string): ProcessInfo | null {
  const open = text.indexOf(' (');
  const close = text.lastIndexOf(') ');
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).split(' ');
  const [state, parent, group, session] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined || !/^\d+$/.test(startTime)) return null;
  return {
    pid: Number(text.slice(0, open)),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    zombie: state === 'Z' || state === 'X' || state === 'x',
    startTime,
  };
}

/** `ps -o pid=,ppid=,pgid=,stat=,lstart=` with LC_ALL=C and TZ=UTC. Lines that do not fit are left out. */
export function parsePs(text: string): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*\S)\s*$/.exec(line);
    if (match === null) continue;
    const [, pid, parent, group, state = '', started = ''] = match;
    const at = Date.parse(`${started} UTC`);
    if (Number.isNaN(at)) continue;
    found.push({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      session: 0,
      zombie: state.startsWith('Z'),
      startTime: String(at / 1000),
    });
  }
  return found;
}

/** Lines of `pid parent created` (created: a Windows file time). */
export function parsePowerShell(text: string): ProcessInfo[] {
  const found: ProcessInfo[] = [];
  for (const line of text.split(/\r?\n/)) {
    const match = /^\s*(\d+) (\d+) (\d+)\s*$/.exec(line);
    if (match === null) continue;
    const [, pid, parent, startTime = ''] = match;
    found.push({ pid: Number(pid), parent: Number(parent), group: 0, session: 0, zombie: false, startTime });
  }
  return found;
}

/** Whether `a` started no earlier than `b`. */
export function startedNoEarlier(a: string, b: string): boolean {
  return BigInt(a) >= BigInt(b);
}

export function createProcesses(platform: NodeJS.Platform, tool: RunTool): Processes {
  if (platform === 'linux') return linux;
  return platform === 'win32' ? windows(tool) : posix(tool);
}

/** Null only for a process that is not there: with no descriptor left to read by, nothing is known. */
const read = (pid: string | number): ProcessInfo | null => {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
};

const linux: Processes = {
  // Both read before they return, and reject instead of throwing.
  find: async (pid) => read(pid),
  list: async () => listProc(),
  marked: (marks, logs) => {
    const wanted = Object.entries(marks).map(([name, value]) => `${name}=${value}`);
    return listProc().filter(({ pid, zombie }) => !zombie && (carries(pid, wanted) || writesTo(pid, logs)));
  },
};

function listProc(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => read(name))
    .filter((info) => info !== null);
}

function carries(pid: number, wanted: string[]): boolean {
  try {
    const environment = new Set(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0'));
    return wanted.every((pair) => environment.has(pair));
  } catch {
    return false;
  }
}

function writesTo(pid: number, logs: string[]): boolean {
  return [1, 2].some((descriptor) => {
    try {
      return logs.includes(readlinkSync(`/proc/${pid}/fd/${descriptor}`));
    } catch {
      return false;
    }
  });
}

const posix = (tool: RunTool): Processes => {
  const ps = async (...which: string[]) =>
    parsePs(await tool('ps', [...which, '-o', 'pid=,ppid=,pgid=,stat=,lstart='], { LC_ALL: 'C', TZ: 'UTC' }));
  return {
    find: async (pid) => (await ps('-p', String(pid))).find((info) => info.pid === pid) ?? null,
    list: () => ps('-ax'),
    marked: () => [],
  };
};

const windows = (tool: RunTool): Processes => {
  const ask = async (filter: string) => {
    const query = `Get-CimInstance Win32_Process${filter} | ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.ToFileTimeUtc())" }`;
    return parsePowerShell(await tool('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', query], null));
  };
  return {
    find: async (pid) => (await ask(` -Filter "ProcessId=${pid}"`)).find((info) => info.pid === pid) ?? null,
    list: () => ask(''),
    marked: () => [],
  };
};
