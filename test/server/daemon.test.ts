/** The life of a server: one per queue, whatever is done to it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../shared/connect.ts';
import type { Connection } from '../../shared/connection.ts';
import { Add, ServerStatus, ServerStop, SettingsSet, Show, StatusRequest, Wait } from '../../shared/protocol.ts';
import { client } from '../helpers/client.ts';
import { isAlive } from '../helpers/processes.ts';
import { dist, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startUnwatched } from './unwatched.ts';

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

  it('has all its threads before it serves: a machine that has none left ends no server', async (t) => {
    if (process.platform !== 'linux') return t.skip('threads are counted in /proc');
    const box = sandbox(t);
    const { pid } = await box.startServer();
    const threads = (): number => fs.readdirSync(`/proc/${pid}/task`).length;
    const before = threads();
    await box.json(['add', '--wait', '--', 'true']);
    await box.json(['output', '1']);
    assert.equal(threads(), before);
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

function modeOf(file: string): number {
  return fs.statSync(file).mode & 0o777;
}
