/** What the tests of running jobs share: a real queue in a folder of its own, and workers on it. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../server/clock.ts';
import { readHost } from '../../server/run/host.ts';
import { runTool } from '../../server/run/tool.ts';
import { createWorker } from '../../server/run/worker.ts';
import type { FinishedLine, WorkerHandle, WorkerOptions, WorkerParts } from '../../server/run/worker.ts';
import { openStore } from '../../server/store/open.ts';
import type { Clock, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { AddRequest, Attempt, Caller, Job } from '../../shared/job.ts';
import { waitFor } from '../helpers/waitFor.ts';

export interface TestWorker extends WorkerHandle {
  finished: FinishedLine[];
  log: string[];
  troubles: (string | null)[];
}

export class RunQueue {
  readonly root: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly #stops: (() => Promise<unknown>)[] = [];
  #offCommit: () => void = () => undefined;
  readonly #workers: WorkerHandle[] = [];

  constructor(root: string, store: Store, clock: Clock) {
    this.root = root;
    this.store = store;
    this.clock = clock;
    // As the server does: every commit wakes every worker of this process.
    this.#offCommit = store.onCommit(() => this.wake());
  }

  wake(): void {
    for (const worker of this.#workers) worker.wake();
  }

  get logs(): string {
    return path.join(this.root, 'logs');
  }

  get paths(): WorkerOptions['paths'] {
    return { workspace: this.root, home: path.join(this.root, 'home'), logs: this.logs, laneFolder: '/opt/lane' };
  }

  file(name: string): string {
    return path.join(this.root, name);
  }

  /** Text of a file in the sandbox, '' when missing. */
  text(name: string): string {
    return fs.existsSync(this.file(name)) ? fs.readFileSync(this.file(name), 'utf8') : '';
  }

  async add(request: AddRequest, caller: Partial<Caller> = {}): Promise<number> {
    const env = { PATH: process.env['PATH'] ?? '', MARK: this.root };
    const full = { cwd: this.root, cancelGraceMs: 5000, ...request };
    const added = await this.store.write((tx) => transitions.add(tx, [full], { env, umask: 0o022, ...caller }));
    return added.ids[0] ?? 0;
  }

  /** Shell text as a job. */
  sh(text: string, request: AddRequest = {}): Promise<number> {
    return this.add({ argv: ['sh', '-c', text], ...request });
  }

  /** Settings of a lane that only tests need: more slots than one. */
  async slots(lane: string, slots: number): Promise<void> {
    await this.store.write((tx) => transitions.setLane(tx, lane, { slots }));
  }

  async cancel(...ids: number[]): Promise<void> {
    await this.store.write((tx) => transitions.cancel(tx, { ids }));
  }

  job(id: number): Job {
    const job = this.store.read((reader) => queries.job(reader, id));
    if (job === null) throw new Error(`there is no job ${id}`);
    return job;
  }

  attempts(id: number): Attempt[] {
    return this.store.read((reader) => queries.attempts(reader, id));
  }

  attempt(id: number): Attempt {
    const attempt = this.attempts(id).at(-1);
    if (attempt === undefined) throw new Error(`job ${id} has no attempt`);
    return attempt;
  }

  output(id: number, stream: 'stdoutPath' | 'stderrPath' = 'stdoutPath'): string {
    return fs.readFileSync(this.attempt(id)[stream] ?? '', 'utf8');
  }

  /** Resolves with the job once it is terminal. */
  ended(id: number): Promise<Job> {
    return waitFor(
      () => {
        const job = this.job(id);
        return ['done', 'dead', 'canceled'].includes(job.state) ? job : null;
      },
      { what: `job ${id} to end` },
    );
  }

  async worker(options: Partial<WorkerOptions> = {}, parts: Partial<WorkerParts> = {}): Promise<TestWorker> {
    const finished: FinishedLine[] = [];
    const log: string[] = [];
    const troubles: (string | null)[] = [];
    const worker = createWorker(
      {
        store: this.store,
        clock: this.clock,
        host: await readHost(process.platform, runTool),
        paths: this.paths,
        kind: 'server',
        lanes: null,
        slots: null,
        concurrency: 4,
        logLimit: () => Number.POSITIVE_INFINITY,
        onFinished: (line) => finished.push(line),
        onTrouble: (trouble) => troubles.push(trouble),
        log: (message) => log.push(message),
        ...options,
      },
      { firstProbeMs: 20, ...parts },
    );
    this.#workers.push(worker);
    this.#stops.push(() => worker.stop({ graceful: false }));
    await worker.start();
    return { ...worker, finished, log, troubles };
  }

  /** A worker in a process of its own, to be killed or stopped. Resolves once it runs. */
  async workerProcess(options: { points?: string; heartbeatMs?: number } = {}): Promise<ChildProcess> {
    const child = fork(
      path.join(import.meta.dirname, '../programs/worker.ts'),
      [JSON.stringify(this.paths), this.root],
      {
        env: {
          PATH: process.env['PATH'] ?? '',
          LANEWAY_TEST_POINTS: options.points ?? '',
          HEARTBEAT_MS: String(options.heartbeatMs ?? 1000),
          // Many such processes are started, and most of their start is compiling.
          NODE_COMPILE_CACHE: path.join(import.meta.dirname, '../../.build/compile-cache'),
        },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      },
    );
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.#stops.push(async () => {
      child.kill('SIGKILL');
      await gone;
    });
    await Promise.race([new Promise((resolve) => child.once('message', resolve)), gone]);
    return child;
  }

  async close(): Promise<void> {
    this.#offCommit();
    for (const stop of this.#stops.toReversed()) await stop();
    for (const { pid } of runningBelow(this.root)) process.kill(pid, 'SIGKILL');
    await this.store.close();
    fs.rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Living processes of jobs of this queue, by the mark in their environment. */
export function runningBelow(root: string): { pid: number }[] {
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const state = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '')[0];
        return state !== 'Z' && fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`MARK=${root}\0`);
      } catch {
        return false;
      }
    })
    .map((pid) => ({ pid: Number(pid) }));
}

export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

export async function openRunQueue(scope: TestContext, clock: Clock = systemClock): Promise<RunQueue> {
  const root = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), 'laneway-run-')));
  const queue = new RunQueue(root, await openStore({ folder: root, clock }), clock);
  scope.after(() => queue.close());
  return queue;
}

/** A shell loop that ends when the file appears: jobs wait on signals as tests do. */
export const until = (file: string): string => `while [ ! -e '${file}' ]; do sleep 0.02; done`;
