/**
 * A world of its own for one test: home, state, runtime folder and workspace below one temporary
 * folder, the built `lane` and server run against it, and at the end the assertion that no process
 * and no socket of it remains. Tests assume that `npm run build` was done.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findWorkspace, statePaths, type StatePaths } from '../../shared/paths.ts';
import { isAlive, processesNaming } from './processes.ts';
import { runLane, startLane, type LaneOptions, type LaneResult, type RunningLane } from './lane.ts';
import { waitFor } from './waitFor.ts';

export const dist = path.resolve(import.meta.dirname, '../../dist');

/** What can register a clean-up: node:test's context, or nothing when the test calls `dispose` itself. */
export interface Cleaner {
  after(action: () => Promise<void>): void;
}

export interface RunningServer {
  pid: number;
  child: ChildProcess;
  /** Resolves with the exit status, or the signal's name. */
  ended: Promise<number | string>;
}

export class Sandbox {
  readonly root: string;
  readonly workspace: string;
  readonly env: Record<string, string>;
  /** Servers that a test killed leave their socket behind; that is theirs to be forgiven. */
  #killed = false;
  readonly #deferred: (() => Promise<unknown>)[] = [];

  constructor(name = 'lw') {
    this.root = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`)));
    for (const folder of ['home', 'tmp', 'run']) fs.mkdirSync(path.join(this.root, folder), { mode: 0o700 });
    this.env = {
      PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
      HOME: path.join(this.root, 'home'),
      USER: os.userInfo().username,
      SHELL: '/bin/sh',
      LANG: 'C.UTF-8',
      TMPDIR: path.join(this.root, 'tmp'),
      LANEWAY_HOME: path.join(this.root, 'state'),
      LANEWAY_RUNTIME: path.join(this.root, 'run'),
    };
    this.workspace = this.makeWorkspace('project');
  }

  /** Makes a folder that counts as a workspace; returns its real path. */
  makeWorkspace(name: string): string {
    const folder = path.join(this.root, name);
    fs.mkdirSync(path.join(folder, '.git'), { recursive: true });
    return fs.realpathSync.native(folder);
  }

  /** The state of a workspace of this sandbox. */
  paths(workspace = this.workspace): StatePaths {
    return statePaths(findWorkspace({ cwd: workspace, env: this.env, explicit: workspace }), this.env);
  }

  /** Runs `lane ARGS…` in the workspace to its end. */
  lane(args: readonly string[], options: LaneOptions = {}): Promise<LaneResult> {
    return runLane(args, this.#options(options));
  }

  /** Starts `lane ARGS…` and leaves it running: for followers, workers, interrupts. */
  startLane(args: readonly string[], options: LaneOptions = {}): RunningLane {
    return startLane(args, this.#options(options));
  }

  /** `lane ARGS… --json`, which must succeed, parsed. Flags go before `--`, so `--json` comes first. */
  async json<T = Record<string, unknown>>(args: readonly string[], options: LaneOptions = {}): Promise<T> {
    const result = await this.lane(['--json', ...args], options);
    if (result.code !== 0) throw new Error(`lane ${args.join(' ')} exited ${result.code}: ${result.stderr}`);
    return JSON.parse(result.stdout) as T;
  }

  #options(options: LaneOptions): LaneOptions {
    return { cwd: this.workspace, ...options, env: { ...this.env, ...options.env } };
  }

  /** Starts the server as a child, which shows its end, and waits until it listens. */
  async startServer(options: { workspace?: string; env?: Record<string, string> } = {}): Promise<RunningServer> {
    const workspace = options.workspace ?? this.workspace;
    const child = spawn(process.execPath, [path.join(dist, 'server.js'), '--workspace', workspace], {
      env: { ...this.env, ...options.env },
      cwd: this.root,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const state: { end: number | string | null } = { end: null };
    const ended = new Promise<number | string>((resolve) =>
      child.once('exit', (code, signal) => resolve((state.end = code ?? signal ?? 'unknown'))),
    );
    await waitFor(
      () => {
        if (state.end !== null) return true;
        return this.serverPid(workspace) === child.pid;
      },
      { what: 'the server to listen' },
    );
    if (state.end !== null) throw new Error(`the server ended at once (${state.end}): ${stderr}`);
    return { pid: child.pid ?? 0, child, ended };
  }

  /** Pid of the live server of a workspace, from what it wrote; null when none runs. */
  serverPid(workspace = this.workspace): number | null {
    return pidOf(this.paths(workspace).serverFile);
  }

  /** SIGKILLs the server of a workspace and waits until it is gone. */
  async killServer(workspace = this.workspace): Promise<void> {
    const pid = this.serverPid(workspace);
    if (pid === null) throw new Error('no server runs here');
    this.#killed = true;
    process.kill(pid, 'SIGKILL');
    await waitFor(() => !isAlive(pid), { what: `server ${pid} to be gone` });
  }

  /** Tells that this test leaves a socket behind on purpose. */
  forgiveSocket(): void {
    this.#killed = true;
  }

  /** Runs before the sandbox goes: for what the test itself holds open in it. Newest first. */
  defer(action: () => Promise<unknown>): void {
    this.#deferred.unshift(action);
  }

  /** Processes of this sandbox: servers, workers, jobs. */
  processes(): { pid: number; command: string }[] {
    return processesNaming(this.root);
  }

  /**
   * Ends the servers (they stop their jobs), then asserts that nothing remains, and removes the folder.
   * Whatever remained is killed before the assertion fails, so that one test does not spoil the next.
   */
  async dispose(): Promise<void> {
    if (!fs.existsSync(this.root)) return;
    for (const action of this.#deferred.splice(0)) await action();
    const servers = this.#servers();
    // The second signal means: do not wait for running jobs.
    for (const _ of [1, 2]) for (const pid of servers) signal(pid, 'SIGTERM');
    const leftovers: string[] = [];
    await waitFor(() => servers.every((pid) => !isAlive(pid)), { what: 'the servers to end' }).catch((error: unknown) =>
      leftovers.push(String(error)),
    );
    // A client that was just answered may still be on its way out; and of several servers started at
    // once, one that had not yet noticed the winner may have taken its place just now.
    const gone = () => {
      for (const pid of this.#servers()) if (!servers.includes(pid)) signal(pid, 'SIGTERM');
      return this.processes().length === 0;
    };
    await waitFor(gone, { deadlineMs: 20_000 }).catch(() => {
      for (const { pid, command } of this.processes()) {
        leftovers.push(`process ${pid}: ${command}`);
        signal(pid, 'SIGKILL');
      }
    });
    if (!this.#killed) leftovers.push(...sockets(path.join(this.root, 'run')).map((file) => `socket ${file}`));
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
    if (leftovers.length > 0) throw new Error(`the test left behind:\n${leftovers.join('\n')}`);
  }

  #servers(): number[] {
    const workspaces = path.join(this.root, 'state', 'workspaces');
    if (!fs.existsSync(workspaces)) return [];
    return fs
      .readdirSync(workspaces)
      .map((name) => pidOf(path.join(workspaces, name, 'server.json')))
      .filter((pid) => pid !== null);
  }
}

/** A sandbox that cleans up after the test. */
export function sandbox(cleaner: Cleaner, name?: string): Sandbox {
  const box = new Sandbox(name);
  cleaner.after(() => box.dispose());
  return box;
}

function pidOf(serverFile: string): number | null {
  try {
    const { pid } = JSON.parse(fs.readFileSync(serverFile, 'utf8')) as { pid: number };
    return isAlive(pid) ? pid : null;
  } catch {
    return null;
  }
}

function sockets(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSocket())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what the signal was for.
  }
}
