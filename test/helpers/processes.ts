/** Which processes belong to a sandbox: those whose environment or command line names its folder. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

export interface FoundProcess {
  pid: number;
  command: string;
}

/** Live (non-zombie) processes other than this one that carry `marker` in their environment or arguments. */
export function processesNaming(marker: string): FoundProcess[] {
  return process.platform === 'linux' ? fromProc(marker) : fromPs(marker);
}

/** True while the process exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  if (process.platform !== 'linux') return true;
  return stateOf(pid) !== 'Z';
}

/** One letter of /proc's process state; null when the process is gone. */
function stateOf(pid: number): string | null {
  const stat = tryRead(`/proc/${pid}/stat`);
  return stat === null ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0] ?? null);
}

function fromProc(marker: string): FoundProcess[] {
  const found: FoundProcess[] = [];
  for (const name of fs.readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = tryRead(`/proc/${pid}/cmdline`);
    if (command === null) continue;
    if (!command.includes(marker) && !tryRead(`/proc/${pid}/environ`)?.includes(marker)) continue;
    if (stateOf(pid) === 'Z') continue;
    found.push({ pid, command: command.replaceAll('\0', ' ').trim() });
  }
  return found;
}

function fromPs(marker: string): FoundProcess[] {
  const listing = execFileSync('ps', ['-axEww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 64 << 20 });
  return listing
    .split('\n')
    .filter((line) => line.includes(marker))
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line.trim() }))
    .filter(({ pid }) => pid !== process.pid);
}

function tryRead(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
