/** Runs the built `lane`, as a person would. */
import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { waitFor } from './waitFor.ts';

export interface LaneOptions {
  cwd?: string;
  /** The whole environment; nothing is inherited. */
  env?: Record<string, string>;
  /** Written to stdin, which is then closed. */
  input?: string | Uint8Array;
  /** Milliseconds after which the run counts as hung and is killed. Default 60 s. */
  deadlineMs?: number;
}

export interface LaneResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** stdout exactly. */
  bytes: Buffer;
}

export interface RunningLane {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has printed so far. */
  stdout(): string;
  stderr(): string;
  /** Waits until stdout contains `text`. */
  prints(text: string): Promise<void>;
  readonly ended: Promise<LaneResult>;
}

const bundle = path.resolve(import.meta.dirname, '../../dist/cli.js');

/** Starts `lane ARGS…`. */
export function startLane(args: readonly string[], options: LaneOptions = {}): RunningLane {
  const child = spawn(process.execPath, [bundle, ...args], {
    cwd: options.cwd,
    env: options.env ?? {},
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => undefined);
  if (options.input !== undefined) child.stdin?.end(options.input);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString();
  const ended = new Promise<LaneResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ code, signal, stdout: text(out), stderr: text(err), bytes: Buffer.concat(out) }),
    );
  });
  return {
    child,
    pid: child.pid ?? 0,
    stdout: () => text(out),
    stderr: () => text(err),
    async prints(wanted) {
      await waitFor(() => text(out).includes(wanted), { what: `lane ${args.join(' ')} to print ${wanted}` });
    },
    ended,
  };
}

/** Runs `lane ARGS…` to its end. @throws Error when it hangs. */
export async function runLane(args: readonly string[], options: LaneOptions = {}): Promise<LaneResult> {
  const run = startLane(args, options);
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    run.child.kill('SIGKILL');
  }, options.deadlineMs ?? 60_000);
  const result = await run.ended;
  clearTimeout(timer);
  if (hung) throw new Error(`lane ${args.join(' ')} hung; it had printed:\n${result.stdout}\n${result.stderr}`);
  return result;
}
