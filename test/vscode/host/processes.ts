/**
 * Child processes of the test host: each in its own group, ended with all it started, and ended
 * also when the host itself is interrupted.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';

export interface Running {
  readonly child: ChildProcess;
  /** The newest 64 KiB of both streams, for failure texts. */
  tail(): string;
  /** Ends the whole group; resolves when the process is gone. Safe to call twice. */
  stop(): Promise<void>;
}

const TAIL_CHARACTERS = 65_536;
const running = new Set<Running>();

export interface StartOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Called with every piece of stdout and stderr. */
  onOutput?: (text: string) => void;
}

/** Starts a program in a group of its own, without a terminal or stdin. */
export function start(program: string, args: readonly string[], options: StartOptions = {}): Running {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  let tail = '';
  const take = (data: Buffer): void => {
    const text = data.toString('utf8');
    tail = (tail + text).slice(-TAIL_CHARACTERS);
    options.onOutput?.(text);
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  // An error without a listener would be thrown; whoever waits on `exit` sees it there.
  child.on('error', (error) => take(Buffer.from(`${error.message}\n`)));
  const self: Running = {
    child,
    tail: () => tail,
    stop: async () => {
      running.delete(self);
      const ended = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
      const gone = ended ? Promise.resolve() : once(child, 'exit');
      // The group may outlive its leader.
      killGroup(child);
      await gone;
    },
  };
  running.add(self);
  return self;
}

/**
 * Runs a program to its end.
 * @returns its output. @throws Error with the tail of it when the status is not 0.
 */
export async function run(
  program: string,
  args: readonly string[],
  options: StartOptions & { signal?: AbortSignal } = {},
): Promise<string> {
  const process = start(program, args, options);
  const abort = (): void => void process.stop();
  options.signal?.addEventListener('abort', abort);
  try {
    const code = await new Promise<number | null>((resolve) => {
      process.child.on('error', () => resolve(null));
      process.child.on('close', (status) => resolve(status));
    });
    if (code !== 0) throw new Error(`${program} ended with ${code ?? 'no status'}:\n${process.tail().slice(-3000)}`);
    return process.tail();
  } finally {
    options.signal?.removeEventListener('abort', abort);
    running.delete(process);
  }
}

/** Ends everything this host started and has not ended; for its own end, however it comes. */
export async function stopAll(): Promise<void> {
  await Promise.allSettled([...running].map((one) => one.stop()));
}

/** Children of a process whose command line contains this. Linux only; elsewhere none. */
export async function childrenOf(parent: number, argument: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const found: number[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const read = (file: string): Promise<string> => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
    if (!(await read('cmdline')).includes(argument)) continue;
    const stat = await read('stat');
    if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) found.push(Number(pid));
  }
  return found;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (process.platform === 'win32') {
      spawnSync('taskkill', ['/pid', String(child.pid), '/T', '/F'], { windowsHide: true });
    } else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}
