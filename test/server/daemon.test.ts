/** The life of a server: one per queue, whatever is done to it, and safe ground or none. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { LanewayError } from '../../shared/errors.ts';
import { findWorkspace } from '../../shared/paths.ts';
import { connect } from '../../shared/connect.ts';
import type { Connection } from '../../shared/connection.ts';
import {
  Add,
  EventsHint,
  ServerStatus,
  ServerStop,
  SettingsSet,
  Show,
  StatusRequest,
  Subscribe,
  Wait,
} from '../../shared/protocol.ts';
import { client } from '../helpers/client.ts';
import { isAlive } from '../helpers/processes.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

/** A server as `lane` starts it: nobody watches it. Resolves with its exit status and what it said. */
function startUnwatched(box: Sandbox, workspace = box.workspace): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [path.join(dist, 'server.js'), '--workspace', workspace], {
    env: box.env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stderr })));
}

describe('one server per queue', () => {
  it('of twenty starters one stays, the others leave quietly once it answers', async (t) => {
    const box = sandbox(t);
    const ends = Array.from({ length: 20 }, () => startUnwatched(box));
    const left: { code: number | null }[] = [];
    for (const end of ends) void end.then((how) => left.push(how));
    await waitFor(() => left.length === 19, { what: 'nineteen to leave' });
    assert.deepEqual(new Set(left.map(({ code }) => code)), new Set([0]));
    const mine = await client(box.paths().socket, t);
    assert.equal((await mine.request(ServerStatus, null)).pid, box.serverPid());
    const { workers } = await mine.request(StatusRequest, null);
    assert.equal(workers.length, 1);
  });

  it('a symlinked folder is the same queue (microsoft/vscode#49315)', async (t) => {
    const box = sandbox(t);
    const link = path.join(box.root, 'link');
    fs.symlinkSync(box.workspace, link);
    assert.deepEqual(box.paths(link), box.paths());
    await box.startServer();
    const { code } = await startUnwatched(box, link);
    assert.equal(code, 0);
    const mine = await client(box.paths(link).socket, t);
    assert.equal((await mine.request(ServerStatus, null)).workspace, box.workspace);
  });

  it('works from a path as long as the system allows', async (t) => {
    const box = sandbox(t);
    const long = box.makeWorkspace(
      path.join(...Array.from({ length: 12 }, (_, i) => `${i}`.repeat(100).slice(0, 200))),
    );
    assert.ok(Buffer.byteLength(box.paths(long).socket) < 103);
    await box.startServer({ workspace: long });
    const mine = await client(box.paths(long).socket, t);
    const [job] = await mine.add({ argv: ['pwd'] });
    const { jobs } = await mine.request(Wait, { selection: { ids: [job?.id ?? 0] } });
    assert.equal(jobs[0]?.state, 'done');
  });
});

describe('a server', () => {
  it('outlives a SIGHUP, works from its state folder, and can be read by nobody else', async (t) => {
    const box = sandbox(t);
    const server = await box.startServer();
    process.kill(server.pid, 'SIGHUP');
    const mine = await client(box.paths().socket, t);
    assert.equal((await mine.request(ServerStatus, null)).pid, server.pid);
    const { folder, database, lock, serverLog, serverFile, socket, socketFolder } = box.paths();
    for (const dir of [folder, path.dirname(folder), socketFolder ?? '']) assert.equal(modeOf(dir), 0o700, dir);
    for (const file of [database, `${database}-wal`, lock, serverLog, serverFile, socket]) {
      assert.equal(modeOf(file), 0o600, file);
    }
    if (process.platform === 'linux') assert.equal(fs.readlinkSync(`/proc/${server.pid}/cwd`), folder);
  });

  it('lets running jobs end at the first SIGTERM, stops and requeues them at the second', async (t) => {
    const box = sandbox(t);
    const first = await box.startServer();
    const mine = await client(box.paths().socket, t);
    const [job] = await mine.add({ argv: ['sleep', '600'] });
    const id = job?.id ?? 0;
    await waitFor(async () => (await mine.request(Show, { job: id })).attempts[0]?.pid);
    process.kill(first.pid, 'SIGTERM');
    await waitFor(() => fs.readFileSync(box.paths().serverLog, 'utf8').includes('finishes, 1 running'));
    assert.ok(isAlive(first.pid));
    assert.equal((await mine.request(Show, { job: id })).job.state, 'running');
    process.kill(first.pid, 'SIGTERM');
    assert.equal(await first.ended, 0);
    assert.equal(fs.existsSync(box.paths().socket), false);
    assert.equal(fs.existsSync(box.paths().serverFile), false);

    await box.startServer();
    const again = await client(box.paths().socket, t);
    const shown = await waitFor(async () => {
      const now = await again.request(Show, { job: id });
      return now.attempts.length === 2 ? now : null;
    });
    assert.deepEqual([shown.job.failures, shown.job.crashes], [0, 0], 'being stopped spends no budget');
    await again.request(ServerStop, { force: true });
    await again.closed;
  });

  it('killed in the middle of a job, leaves nothing to clean up by hand (DarthSim/overmind#50)', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket, t);
    const [job, next] = await mine.add(
      { argv: ['sh', '-c', '[ "$LANEWAY_ATTEMPT" = 2 ] || sleep 600'], retryDelayMs: 1 },
      { argv: ['true'] },
    );
    const id = job?.id ?? 0;
    const pid = await waitFor(async () => (await mine.request(Show, { job: id })).attempts[0]?.pid);
    await box.killServer();
    await mine.closed;
    assert.ok(fs.existsSync(box.paths().socket), 'the dead server left its socket');
    assert.ok(isAlive(pid), 'and its job runs on');

    await box.startServer();
    const again = await client(box.paths().socket, t);
    const { jobs } = await again.request(Wait, { selection: { ids: [id, next?.id ?? 0] } });
    assert.deepEqual(
      jobs.map(({ state, attempts, crashes }) => [state, attempts, crashes]),
      [
        ['done', 2, 1],
        ['done', 1, 0],
      ],
    );
    assert.equal(isAlive(pid), false, 'the orphan was ended before the job ran again');
    const { attempts } = await again.request(Show, { job: id });
    assert.deepEqual(
      attempts.map(({ state, failureReason }) => [state, failureReason]),
      [
        ['abandoned', 'worker_crash'],
        ['succeeded', null],
      ],
    );
  });

  it('makes its socket again when something deleted it', async (t) => {
    const box = sandbox(t);
    const server = await box.startServer();
    const { socket, socketFolder } = box.paths();
    const early = await client(socket, t);
    for (const target of [socket, socketFolder ?? socket]) {
      fs.rmSync(target, { recursive: true });
      const late = await waitFor(() => (fs.existsSync(socket) ? client(socket) : null), { what: 'the socket' });
      assert.equal((await late.request(ServerStatus, null)).pid, server.pid);
      await late.close();
    }
    assert.equal((await early.request(ServerStatus, null)).pid, server.pid);
  });

  it('ends when its database is taken away, rather than work on where nobody finds it', async (t) => {
    const box = sandbox(t);
    const server = await box.startServer();
    fs.rmSync(box.paths().folder, { recursive: true });
    assert.equal(await server.ended, 0);
    await box.startServer();
    const mine = await client(box.paths().socket, t);
    assert.equal((await mine.request(StatusRequest, null)).counts.done, 0);
  });

  it('ends when nobody has needed it for as long as the setting says, and not before', async (t) => {
    const box = sandbox(t);
    const server = await box.startServer();
    const mine = await client(box.paths().socket);
    const [job] = await mine.add({ argv: ['true'], afterMs: 3_600_000 });
    await mine.request(SettingsSet, { settings: { serverIdleMs: 50 } });
    await mine.close();
    // A waiting job is a reason to stay, however long nobody is connected.
    const witness = await client(box.paths().socket);
    assert.ok(isAlive(server.pid));
    await witness.call('laneway/cancel', { selection: { ids: [job?.id] } });
    await witness.close();
    assert.equal(await server.ended, 0);
    assert.match(fs.readFileSync(box.paths().serverLog, 'utf8'), /nobody needs it/);
  });
});

describe('a client that comes while the server leaves', () => {
  it('is served by it or by the next one, and never sent away', async (t) => {
    const box = sandbox(t);
    const options = { workspace: box.workspace, env: box.env, client: 'test', version: '0', start: 'always' } as const;
    const reach = (): Promise<Connection> => connect({ ...options, serverBundle: path.join(dist, 'server.js') });
    const first = await reach();
    await first.request(SettingsSet, { settings: { serverIdleMs: 20 } });
    await first.close();
    const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o022 };
    for (let round = 0; round < 25; round++) {
      const connection = await reach();
      await connection.request(Add, { jobs: [{ argv: ['true'] }], caller });
      await connection.close();
      // Sometimes before it leaves, sometimes after, mostly in between.
      await pause(round * 2);
    }
    const last = await reach();
    const { counts } = await last.request(StatusRequest, null);
    assert.equal(counts.queued + counts.running + counts.done, 25);
    await last.close();
  });
});

describe('unsafe ground is refused, and the reason told', () => {
  const cases: [what: string, arrange: (box: Sandbox) => void, message: RegExp][] = [
    [
      'a state home inside a work tree',
      (box) => (box.env['LANEWAY_HOME'] = path.join(box.makeWorkspace('other'), 'sub', 'state')),
      /lies inside the work tree/,
    ],
    [
      'a state home inside the workspace',
      (box) => (box.env['LANEWAY_HOME'] = `${box.workspace}/.laneway`),
      /lies inside/,
    ],
    ['a relative state home', (box) => (box.env['LANEWAY_HOME'] = 'state'), /not an absolute path/],
    [
      'a state home that everybody may write',
      (box) => {
        fs.mkdirSync(box.env['LANEWAY_HOME'] ?? '', { recursive: true });
        fs.chmodSync(box.env['LANEWAY_HOME'] ?? '', 0o777);
      },
      /everybody may write/,
    ],
    [
      'a state folder that is a link to elsewhere',
      (box) => {
        const { workspaces, folder } = box.paths();
        fs.mkdirSync(workspaces, { recursive: true, mode: 0o700 });
        fs.symlinkSync(box.root, folder);
      },
      /is no folder/,
    ],
    [
      'a socket path beyond the limit',
      (box) => (box.env['LANEWAY_RUNTIME'] = path.join(box.root, 'r'.repeat(120))),
      /longer than the \d+ bytes/,
    ],
    [
      'a database of a newer schema',
      (box) => {
        fs.mkdirSync(box.paths().folder, { recursive: true, mode: 0o700 });
        newerDatabase(box.paths().database);
      },
      /has schema 9999/,
    ],
  ];
  for (const [what, arrange, message] of cases) {
    it(what, async (t) => {
      const box = sandbox(t);
      arrange(box);
      const { code, stderr } = await startUnwatched(box);
      assert.equal(code, 3);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n\s+at /, 'no stack trace');
    });
  }

  it(
    'a state folder that cannot be written',
    { skip: process.getuid?.() === 0 && 'root may write anywhere' },
    async (t) => {
      const box = sandbox(t);
      const state = box.env['LANEWAY_HOME'] ?? '';
      fs.mkdirSync(state, { mode: 0o500 });
      box.defer(async () => fs.chmodSync(state, 0o700));
      const { code, stderr } = await startUnwatched(box);
      assert.equal(code, 3);
      assert.match(stderr, /EACCES/);
    },
  );

  it('another folder at an old path, while that queue has unfinished jobs', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket);
    await mine.add({ argv: ['true'], afterMs: 3_600_000 });
    await mine.request(ServerStop, { force: false });
    await mine.closed;
    fs.renameSync(box.workspace, `${box.workspace}-old`);
    box.makeWorkspace('project');
    const { code, stderr } = await startUnwatched(box);
    assert.equal(code, 3);
    assert.match(stderr, /another folder.*unfinished jobs/s);
    assert.match(stderr, /workspaces adopt/);
    assert.deepEqual(
      JSON.parse(fs.readFileSync(path.join(box.paths().folder, 'start-error.json'), 'utf8')).code,
      'REFUSED',
    );
  });

  it('a job that runs on another machine', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket, t);
    const [job] = await mine.add({ argv: ['sleep', '600'] });
    const pid = await waitFor(async () => (await mine.request(Show, { job: job?.id ?? 0 })).attempts[0]?.pid);
    await box.killServer();
    inDatabase(box.paths().database, "db.exec(`UPDATE attempts SET host = 'elsewhere'`)");
    const { code, stderr } = await startUnwatched(box);
    assert.equal(code, 3);
    assert.match(stderr, /job 1 of this queue is running on host elsewhere/);
    assert.match(stderr, /lane workspaces release PATH --yes/);
    assert.equal((await box.lane(['workspaces', 'release', box.workspace])).code, 2);
    await box.json(['workspaces', 'release', box.workspace, '--yes']);
    await box.startServer();
    assert.equal((await box.lane(['workspaces', 'release', box.workspace, '--yes'])).code, 5);
    const later = await client(box.paths().socket, t);
    const taken = await waitFor(async () => {
      const { job: seen } = await later.request(Show, { job: job?.id ?? 0 });
      return seen.crashes === 1 ? seen : null;
    });
    assert.equal(taken?.cancelRequested, false);
    assert.ok(isAlive(pid), 'what runs elsewhere is never signalled');
    process.kill(pid, 'SIGKILL');
  });

  it('a damaged database is set aside, and that is told', async (t) => {
    const box = sandbox(t);
    const first = await box.startServer();
    first.child.kill('SIGTERM');
    await first.ended;
    const { database } = box.paths();
    const bytes = fs.readFileSync(database);
    bytes.fill(0x55, 100, Math.min(bytes.length, 12_000));
    fs.writeFileSync(database, bytes);
    for (const suffix of ['-wal', '-shm']) fs.rmSync(database + suffix, { force: true });
    await box.startServer();
    assert.match(fs.readFileSync(box.paths().serverLog, 'utf8'), /damaged.*set aside as/);
    const mine = await client(box.paths().socket, t);
    const { checks } = (await mine.call('laneway/doctor', { deep: false })) as {
      checks: { id: string; status: string }[];
    };
    assert.equal(checks.find(({ id }) => id === 'damaged')?.status, 'warn');
    await mine.request(Subscribe, null);
    await mine.add({ argv: ['true'] });
    const { trouble } = await mine.receives(EventsHint);
    assert.match(trouble ?? '', /damaged queue was set aside as .*queue\.damaged-/);
  });
});

describe('the workspace a command means', () => {
  it('is never the home folder or the root by itself', (t) => {
    const box = sandbox(t);
    const home = fs.realpathSync.native(box.env['HOME'] ?? '');
    fs.mkdirSync(path.join(home, '.git'));
    fs.mkdirSync(path.join(home, 'plain', 'deep'), { recursive: true });
    const refused = (error: unknown): boolean => error instanceof LanewayError && error.code === 'REFUSED';
    assert.throws(() => findWorkspace({ cwd: home, env: box.env }), refused);
    assert.throws(() => findWorkspace({ cwd: '/', env: box.env }), refused);
    assert.equal(findWorkspace({ cwd: home, env: box.env, explicit: '.' }), home);
    const plain = path.join(home, 'plain', 'deep');
    assert.equal(findWorkspace({ cwd: plain, env: box.env }), plain);
    fs.mkdirSync(path.join(home, 'plain', '.vscode'));
    assert.equal(findWorkspace({ cwd: plain, env: box.env }), path.join(home, 'plain'));
    assert.equal(findWorkspace({ cwd: plain, env: { ...box.env, LANEWAY_WORKSPACE: box.workspace } }), box.workspace);
  });
});

function modeOf(file: string): number {
  return fs.statSync(file).mode & 0o777;
}

/** An SQLite file whose header says a schema that no build of today knows. */
function newerDatabase(file: string): void {
  inDatabase(file, "db.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)'); db.pragma('user_version = 9999')");
}

/** In a process of its own, so that no lock of this one is touched. */
function inDatabase(file: string, statements: string): void {
  const script = `const D = require('better-sqlite3'); const db = new D(process.argv[1]); ${statements}; db.close();`;
  execFileSync(process.execPath, ['-e', script, file], { stdio: 'inherit', cwd: path.dirname(dist) });
}
