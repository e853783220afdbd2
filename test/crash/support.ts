/**
 * What the crash tests share: a real queue, the built server and `lane` run against it as processes
 * that may be killed at any instant, and jobs that notice another copy of themselves.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { systemClock as clock } from '../../server/clock.ts';
import { openDirect } from '../../server/direct.ts';
import type { Connection } from '../../shared/connection.ts';
import type { JobEvent } from '../../shared/event.ts';
import type { AddRequest, Attempt, Job } from '../../shared/job.ts';
import * as P from '../../shared/protocol.ts';
import { Client } from '../helpers/client.ts';
import { type Cleaner, dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { verify } from './account.ts';

/** Why this suite is left out here, or false. */
export const skip =
  process.platform === 'linux' ? false : 'jobs that notice a copy of themselves need Linux: flock, and /proc to look';

/** Longest wait for anything: only a failure takes so long. */
export const PATIENCE = { deadlineMs: 120_000 };

/** One process that a test started, and how it ended. */
export interface Victim {
  child: ChildProcess;
  pid: number;
  /** Exit status or the signal's name; null while it runs. */
  end: number | string | null;
  stdout: string;
  stderr: string;
}

export interface VictimOptions {
  /** LANEWAY_TEST_POINTS */
  points?: string;
  heartbeatMs?: number;
}

export class CrashQueue {
  readonly box: Sandbox;
  /** In this process, without a server: adds that nothing can interrupt, and looks. */
  readonly own: Connection;
  /** Jobs that somebody was told are queued. */
  readonly acknowledged = new Set<number>();
  kills = 0;
  #cursor = 0;

  constructor(box: Sandbox, own: Connection) {
    this.box = box;
    this.own = own;
  }

  file(name: string): string {
    return path.join(this.box.root, name);
  }

  lines(name: string): string[] {
    const file = this.file(name);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  }

  /** What the caller of every job is. */
  get caller(): { env: Record<string, string>; umask: number } {
    return { env: { PATH: process.env['PATH'] ?? '', BOX: this.box.root }, umask: 0o022 };
  }

  /** A job whose program holds a lock for as long as any process of it lives, and says so when it cannot have it. */
  sh(body: string, more: AddRequest = {}): AddRequest {
    return {
      argv: ['sh', '-c', `${ALONE}\n${body}`],
      maxCrashes: 10_000,
      retryDelayMs: 1,
      retryMaxDelayMs: 1,
      ...more,
    };
  }

  /** Queues through this process, and so for certain. */
  async add(...jobs: AddRequest[]): Promise<number[]> {
    const added = await this.own.request(P.Add, { jobs, caller: this.caller });
    return this.told(added.jobs);
  }

  told(jobs: Job[]): number[] {
    for (const { id } of jobs) this.acknowledged.add(id);
    return jobs.map(({ id }) => id);
  }

  async job(id: number): Promise<Job> {
    return (await this.own.request(P.Show, { job: id })).job;
  }

  async attempts(id: number): Promise<Attempt[]> {
    return (await this.own.request(P.Show, { job: id })).attempts;
  }

  async events(job: number | null = null): Promise<JobEvent[]> {
    const all: JobEvent[] = [];
    for (;;) {
      const { events } = await this.own.request(P.Events, { since: all.at(-1)?.id ?? 0, job, limit: 1000 });
      if (events.length === 0) return all;
      all.push(...events);
    }
  }

  /** How far the ledger is. */
  async cursor(): Promise<number> {
    for (;;) {
      const { events, cursor } = await this.own.request(P.Events, { since: this.#cursor, limit: 1000 });
      if (events.length === 0) return this.#cursor;
      this.#cursor = cursor;
    }
  }

  /** Waits until that many more events are in the ledger, or something else is the case. */
  async moves(by: number, isOver: () => boolean | Promise<boolean>): Promise<void> {
    const enough = (await this.cursor()) + by;
    await waitFor(async () => (await isOver()) || (await this.cursor()) >= enough, {
      ...PATIENCE,
      what: 'the ledger to move',
    });
  }

  /** Waits until the job is in one of these states. */
  reaches(id: number, ...states: Job['state'][]): Promise<Job> {
    return waitFor(
      async () => {
        const job = await this.job(id);
        return states.includes(job.state) ? job : null;
      },
      { ...PATIENCE, what: `job ${id} to be ${states.join(' or ')}` },
    );
  }

  /** Until the program itself has said that it runs. */
  async runs(id: number, attempt = 1): Promise<void> {
    await waitFor(() => this.lines('ran').includes(`${id}.${attempt}`), {
      ...PATIENCE,
      what: `attempt ${attempt} of job ${id} to run`,
    });
  }

  server(options: VictimOptions = {}): Victim {
    return this.#start([path.join(dist, 'server.js'), '--workspace', this.box.workspace], options);
  }

  lane(args: string[], options: VictimOptions = {}): Victim {
    return this.#start([path.join(dist, 'cli.js'), ...args], options);
  }

  #start(args: string[], { points, heartbeatMs }: VictimOptions): Victim {
    const env: Record<string, string> = { ...this.box.env, BOX: this.box.root };
    if (points !== undefined) env['LANEWAY_TEST_POINTS'] = points;
    if (heartbeatMs !== undefined) env['LANEWAY_TEST_HEARTBEAT_MS'] = String(heartbeatMs);
    const child = spawn(process.execPath, args, {
      cwd: this.box.workspace,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const victim: Victim = { child, pid: child.pid ?? 0, end: null, stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (victim.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (victim.stderr += chunk.toString()));
    // Not at its exit: what it said last may still be on its way.
    child.once('close', (code, signal) => (victim.end = code ?? signal));
    this.box.defer(async () => {
      if (victim.end === null) await this.kill(victim);
    });
    return victim;
  }

  /** A client of a running server; null when the server ended before it listened. */
  async client(server: Victim): Promise<Client | null> {
    await waitFor(() => server.end !== null || this.box.serverPid() === server.pid, {
      ...PATIENCE,
      what: 'the server to listen',
    });
    if (server.end !== null) return null;
    const client = new Client(this.box.paths().socket);
    await Promise.race([client.hello().catch(() => undefined), client.closed]);
    return client;
  }

  /** A client of whichever server answers now; null when none does. */
  async clientOfAny(): Promise<Client | null> {
    if (this.box.serverPid() === null) return null;
    const client = new Client(this.box.paths().socket);
    const isGreeted = await Promise.race([
      client.hello().then(
        () => true,
        () => false,
      ),
      client.closed.then(() => false),
    ]);
    if (isGreeted) return client;
    client.socket.destroy();
    return null;
  }

  /** SIGKILL, now. Resolves when it is gone. */
  async kill(victim: Victim): Promise<void> {
    victim.child.kill('SIGKILL');
    await this.dies(victim);
  }

  /** Waits for a death that was prepared. @throws AssertionError when it ended in another way. */
  async dies(victim: Victim): Promise<void> {
    await this.gone(victim);
    assert.equal(victim.end, 'SIGKILL', victim.stderr);
    this.kills += 1;
  }

  /** Waits until it has ended, in whatever way. */
  async gone(victim: Victim): Promise<void> {
    await waitFor(() => victim.end !== null, { ...PATIENCE, what: 'a process to end' });
  }

  /** Ends it in order. */
  async ends(victim: Victim): Promise<void> {
    if (victim.end === null) victim.child.kill('SIGTERM');
    await this.gone(victim);
    assert.equal(victim.end, 0, victim.stderr);
  }

  /** Lets a server finish everything, ends it, and draws up the account. */
  async settle(): Promise<void> {
    const server = this.server();
    await waitFor(
      async () => {
        assert.equal(server.end, null, server.stderr);
        const { counts } = await this.own.request(P.StatusRequest, null);
        return counts.blocked + counts.queued + counts.running === 0;
      },
      { ...PATIENCE, what: 'the queue to settle' },
    );
    await waitFor(() => this.box.serverPid() === server.pid, PATIENCE);
    await this.ends(server);
    await verify(this);
  }
}

const ALONE = `exec 9>>"$BOX/locks/$LANEWAY_JOB_ID"
flock -n 9 || echo "$LANEWAY_JOB_ID.$LANEWAY_ATTEMPT" >>"$BOX/overlaps"
echo "$LANEWAY_JOB_ID.$LANEWAY_ATTEMPT" >>"$BOX/ran"`;

/** The first attempt stays until it is stopped; a later one ends at once. */
export const STAYS = `[ "$LANEWAY_ATTEMPT" != 1 ] || exec sleep 600`;

/** A queue with room for eight jobs at once; taken down after the test. */
export async function crashQueue(cleaner: Cleaner): Promise<CrashQueue> {
  const box = sandbox(cleaner, 'lw-crash');
  box.forgiveSocket();
  fs.mkdirSync(path.join(box.root, 'locks'));
  const own = await openDirect({
    workspace: box.workspace,
    execute: false,
    env: box.env,
    clock,
    warn: (message) => assert.fail(message),
  });
  const queue = new CrashQueue(box, own);
  box.defer(() => own.close());
  await own.request(P.LanesSet, { name: 'default', settings: { slots: 8 } });
  await own.request(P.SettingsSet, { settings: { concurrency: 8 } });
  return queue;
}
