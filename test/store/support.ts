/** What the store's tests share: a queue in a folder of its own, a clock to turn by hand, jobs in short. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { build } from 'esbuild';
import { SCHEMA } from '../../server/store/migrate.ts';
import { openStore, openStoreWith, type OpenParts } from '../../server/store/open.ts';
import { check } from '../../server/store/check/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type {
  AttemptEnd,
  Claimed,
  Clock,
  FinishResult,
  OpenOptions,
  Reader,
  Store,
  WorkerRegistration,
} from '../../server/store/api.ts';
import type { AddRequest, Caller } from '../../shared/job.ts';

/** Where something can be told to run when it is over: a test's context. */
export type Scope = Pick<TestContext, 'after'>;

export const CALLER: Caller = { env: { PATH: '/usr/bin', HOME: '/home/dev' }, umask: 0o022 };

/** A clock that stands still until it is moved; its ticks go on by themselves unless moved too. */
export interface FakeClock extends Clock {
  /** Move both by so many ms. */
  advance(ms: number): void;
  /** Set the wall clock alone, also back. */
  set(now: number): void;
}

/** 2026-01-02T03:04:05.000Z unless told otherwise. Ticks are real, so that waits end. */
export function fakeClock(start: number = Date.UTC(2026, 0, 2, 3, 4, 5)): FakeClock {
  let now = start;
  let skipped = 0;
  return {
    now: () => now,
    ticks: () => performance.now() + skipped,
    advance: (ms) => {
      now += ms;
      skipped += ms;
    },
    set: (value) => {
      now = value;
    },
  };
}

/** A folder that is gone after the test. */
export function tempFolder(scope: Scope): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'laneway-store-'));
  scope.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** The same in memory where the machine has a place for that, for tests that commit thousands of times. */
export function memoryFolder(scope: Scope): string {
  if (!fs.existsSync('/dev/shm')) return tempFolder(scope);
  const folder = fs.mkdtempSync('/dev/shm/laneway-store-');
  scope.after(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** A queue in a new folder, closed and removed after the test. */
export async function openTemp(
  scope: Scope,
  options: Partial<OpenOptions> = {},
  parts: Partial<OpenParts> | null = null,
): Promise<{ store: Store; clock: FakeClock; folder: string }> {
  const folder = options.folder ?? tempFolder(scope);
  const clock = fakeClock();
  const all = { folder, clock, ...options };
  const store =
    parts === null
      ? await openStore(all)
      : await openStoreWith(all, { ground: () => ({ kind: 'local' }), schema: SCHEMA, ...parts });
  scope.after(() => store.close());
  return { store, clock, folder };
}

/** A job in short: `job({ lane: 'build' })`. */
export function job(request: AddRequest = {}): AddRequest {
  return { argv: ['true'], cwd: '/tmp', ...request };
}

/** Add jobs; gives their ids. */
export async function add(store: Store, ...requests: AddRequest[]): Promise<number[]> {
  const jobs = requests.length === 0 ? [job()] : requests.map(job);
  return (await store.write((tx) => transitions.add(tx, jobs, CALLER))).ids;
}

/** Add one job; gives its id. */
export async function addOne(store: Store, request: AddRequest = {}): Promise<number> {
  return (await add(store, request))[0] as number;
}

/** The bare connection, for what no transition does. */
export const raw = (store: Store): Reader['db'] => store.read(({ db }) => db);

export function registration(id: string, over: Partial<WorkerRegistration> = {}): WorkerRegistration {
  return {
    id,
    kind: 'work',
    host: 'host',
    bootId: 'boot',
    pidNamespace: 'ns',
    pid: process.pid,
    startTime: '1',
    lanes: null,
    slots: null,
    concurrency: 100,
    ...over,
  };
}

export async function register(store: Store, id = 'w1', over: Partial<WorkerRegistration> = {}): Promise<string> {
  await store.write((tx) => transitions.registerWorker(tx, registration(id, over)));
  return id;
}

/** Claim as a worker that is registered (`w1` unless named). */
export async function claim(
  store: Store,
  args: Partial<{ workerId: string; lanes: string[] | null; slots: number | null; limit: number }> = {},
): Promise<Claimed[]> {
  return store.write((tx) => transitions.claim(tx, { workerId: 'w1', lanes: null, slots: null, limit: 1, ...args }));
}

/** How an attempt ended: exit 0 unless told otherwise. */
export function end(over: Partial<AttemptEnd> = {}): AttemptEnd {
  return {
    kind: 'exited',
    exitCode: 0,
    signal: null,
    error: null,
    stdoutBytes: 0,
    stderrBytes: 0,
    signalled: false,
    ...over,
  };
}

export async function finish(store: Store, owner: Claimed, over: Partial<AttemptEnd> = {}): Promise<FinishResult> {
  return store.write((tx) => transitions.finish(tx, owner, end(over)));
}

/** The stored state of a job, read without any query of the store. */
export function stateOf(store: Store, id: number): string | null {
  return store.read(
    ({ db }) => db.prepare<[number], string>('SELECT state FROM job_view WHERE id = ?').pluck().get(id) ?? null,
  );
}

/** The types of a job's events, oldest first. */
export function eventsOf(store: Store, id: number): string[] {
  return store.read(({ db }) =>
    db.prepare<[number], string>('SELECT event_type FROM job_events WHERE job_id = ? ORDER BY id').pluck().all(id),
  );
}

/** Everything the database holds, to show that something changed nothing. */
export function contents(store: Store): Record<string, unknown[]> {
  return store.read(({ db }) => {
    const tables = db.prepare<[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
    return Object.fromEntries(tables.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()]));
  });
}

/** The columns of `job_view` of a job. */
export function view(store: Store, id: number): Record<string, unknown> {
  return store.read(
    ({ db }) => db.prepare<[number], Record<string, unknown>>('SELECT * FROM job_view WHERE id = ?').get(id) ?? {},
  );
}

/** Every invariant holds, the deep ones included. */
export function assertSound(store: Store, when = ''): void {
  const broken = store.read((reader) => check(reader, true)).filter(({ status }) => status === 'fail');
  assert.deepEqual(broken, [], when);
}

const ROOT = path.join(import.meta.dirname, '..', '..');

/**
 * A program of `test/store/programs`, bundled once for the test that runs it many times: plain
 * JavaScript starts ten times as fast as what has its types stripped first.
 */
export async function bundleProgram(scope: Scope, name: string): Promise<string> {
  // Within the checkout, where the driver's package is found.
  const folder = path.join(ROOT, '.build');
  fs.mkdirSync(folder, { recursive: true });
  const outfile = path.join(fs.mkdtempSync(path.join(folder, 'program-')), 'program.cjs');
  scope.after(() => fs.rmSync(path.dirname(outfile), { recursive: true, force: true }));
  await build({
    entryPoints: [path.join(import.meta.dirname, 'programs', name)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['better-sqlite3', 'esbuild'],
    define: { 'import.meta.dirname': JSON.stringify(path.join(ROOT, 'server', 'store')) },
  });
  return outfile;
}

/** Runs a bundled program in a process of its own; gives what it printed as JSON. */
export function runProgram(file: string, ...args: string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [file, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    let errors = '';
    child.stdout.on('data', (part: Buffer) => (out += part.toString()));
    child.stderr.on('data', (part: Buffer) => (errors += part.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`${path.basename(file)} ${args.join(' ')} exited ${code}: ${errors}`));
    });
  });
}
