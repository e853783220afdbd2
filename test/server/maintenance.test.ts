/** What keeps a queue in order over months: retention, its own log, moved and removed projects, a full disk. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openDirect } from '../../server/direct.ts';
import { doctor } from '../../server/doctor/doctor.ts';
import { systemClock } from '../../server/clock.ts';
import { openQueue } from '../../server/openQueue.ts';
import { retain } from '../../server/retention.ts';
import { openServerLog } from '../../server/serverLog.ts';
import { adoptWorkspace, moveWorkspace, removeWorkspace } from '../../server/workspaces/change.ts';
import { listWorkspaces } from '../../server/workspaces/registry.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { Connection } from '../../shared/connection.ts';
import type { LanewayError } from '../../shared/errors.ts';
import * as P from '../../shared/protocol.ts';
import { client } from '../helpers/client.ts';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const clock = systemClock;
const code =
  (wanted: string) =>
  (error: unknown): boolean =>
    (error as LanewayError).code === wanted;

/** The queue in this process, with a worker. */
async function inProcess(box: Sandbox, workspace = box.workspace): Promise<Connection> {
  return openDirect({ workspace, env: box.env, clock, warn: () => undefined, execute: true });
}

async function runs(connection: Connection, ...argvs: string[][]): Promise<number[]> {
  const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o022 };
  const { jobs } = await connection.request(P.Add, { jobs: argvs.map((argv) => ({ argv })), caller });
  const ids = jobs.map(({ id }) => id);
  await connection.request(P.Wait, { selection: { ids } });
  return ids;
}

describe('retention', () => {
  it('prunes what ended at a time that a clock set back has yet to come to', async (t) => {
    const box = sandbox(t);
    const options = { workspace: box.workspace, env: box.env, warn: () => undefined, execute: true };
    const ahead = await openDirect({ ...options, clock: { ...clock, now: () => clock.now() + 3_600_000 } });
    await runs(ahead, ['true']);
    await ahead.close();
    const back = await openDirect({ ...options, clock });
    assert.equal((await back.request(P.Prune, { dryRun: true })).deleted, 1);
    assert.equal((await back.request(P.Prune, { dryRun: false, olderThanMs: 1 })).deleted, 0);
    assert.equal((await back.request(P.Prune, { dryRun: false })).deleted, 1);
    await back.close();
  });

  it('deletes by age and by size, oldest first, with files and empty folders; live jobs and their needs stay', async (t) => {
    const box = sandbox(t);
    const connection = await inProcess(box);
    const ids = await runs(connection, ...Array.from({ length: 6 }, () => ['sh', '-c', 'yes | head -c 1000']));
    const caller = { env: {}, umask: 0 };
    await connection.request(P.Add, { jobs: [{ argv: ['true'], needs: [ids[0] ?? 0], afterMs: 3_600_000 }], caller });
    await connection.request(P.SettingsSet, { settings: { retentionBytes: 2500 } });
    await connection.close();
    const { store, paths } = await openQueue({ workspace: box.workspace, env: box.env, clock, warn: () => undefined });
    const left = (): number[] =>
      store
        .read((reader) => queries.list(reader, { limit: 100 }))
        .jobs.map(({ id }) => id)
        .toSorted((a, b) => a - b);
    try {
      await retain({ store, clock, paths });
      // 2,500 bytes hold two logs; the first job is needed by a live one.
      assert.ok(left().includes(ids[0] ?? 0));
      assert.ok(left().includes(ids[5] ?? 0));
      assert.ok(store.read((reader) => queries.logBytes(reader)) <= 2500 + 1000);
      await store.write((tx) => transitions.setSettings(tx, { retentionMs: 1 }));
      await store.write((tx) => transitions.cancel(tx, { all: true, states: ['queued'] }));
      const tomorrow = { now: () => clock.now() + 86_400_000, ticks: () => clock.ticks() };
      await retain({ store, clock: tomorrow, paths });
      assert.deepEqual(left(), []);
      assert.deepEqual(fs.readdirSync(paths.logs), []);
      assert.equal(
        store.read((reader) => queries.logBytes(reader)),
        0,
      );
    } finally {
      await store.close();
    }
  });
});

describe('the server’s own log', () => {
  it('rotates at its bound, escapes what could move a cursor, and is readable by its owner only', (t) => {
    const box = sandbox(t);
    const file = path.join(box.root, 'server.log');
    const log = openServerLog(file, () => 0, 2000);
    for (let i = 0; i < 100; i++) log.write(`line ${i} \u001b[2J\nnot a second line`);
    log.write('x'.repeat(100_000));
    log.close();
    const files = [file, `${file}.1`];
    for (const each of files) {
      assert.equal(fs.statSync(each).mode & 0o777, 0o600);
      assert.ok(fs.statSync(each).size < 11_000);
    }
    assert.deepEqual(
      fs.readdirSync(box.root).filter((name) => name.startsWith('server.log')),
      ['server.log', 'server.log.1'],
    );
    const text = fs.readFileSync(`${file}.1`, 'utf8');
    assert.match(text, /^1970-01-01T00:00:00.000Z \d+ line \d+/);
    assert.equal(text.includes('\u001b'), false);
    assert.ok(
      text
        .trimEnd()
        .split('\n')
        .every((line) => line.includes('line ')),
    );
  });
});

describe('workspaces', () => {
  it('lists what there is, without starting anything', async (t) => {
    const box = sandbox(t);
    assert.deepEqual(await listWorkspaces({ env: box.env, clock }), []);
    const other = box.makeWorkspace('other');
    for (const workspace of [box.workspace, other]) {
      const connection = await inProcess(box, workspace);
      await runs(connection, ['true']);
      await connection.close();
    }
    fs.rmSync(other, { recursive: true });
    const server = await box.startServer();
    const found = await listWorkspaces({ env: box.env, clock });
    assert.deepEqual(
      found.map(({ path: where, state, counts, serverPid }) => [where, state, counts?.done, serverPid]),
      [
        [other, 'missing', 1, null],
        [box.workspace, 'present', 1, server.pid],
      ],
    );
  });

  it('a queue moves with its project: logs stay readable, a server ends first, running jobs forbid it', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket);
    const [quick, slow] = await mine.add({ argv: ['echo', 'kept'], lane: 'quick' }, { argv: ['sleep', '600'] });
    const [id, running] = [quick?.id ?? 0, slow?.id ?? 0];
    await mine.request(P.Wait, { selection: { ids: [id] } });
    await waitFor(async () => (await mine.request(P.Show, { job: running })).job.state === 'running');
    const renamed = `${box.workspace}-renamed`;
    fs.renameSync(box.workspace, renamed);
    // As when the renamed folder was looked at: a queue without a job stands there, with a server.
    const looking = await box.startServer({ workspace: renamed });
    const move = { from: box.workspace, to: renamed, env: box.env, clock };
    await assert.rejects(moveWorkspace(move), code('CONFLICT'));
    await mine.request(P.Cancel, { selection: { ids: [running] } });
    await mine.request(P.Wait, { selection: { ids: [running] } });
    await mine.close();
    const moved = await moveWorkspace(move);
    assert.equal(await looking.ended, 0);
    assert.deepEqual([moved.path, moved.state, moved.serverPid, moved.counts?.done], [renamed, 'present', null, 1]);
    assert.equal(fs.existsSync(box.paths(renamed).database), true);
    const connection = await inProcess(box, renamed);
    assert.equal((await connection.request(P.Output, { job: id })).text, 'kept\n');
    const { attempts } = await connection.request(P.Show, { job: id });
    assert.equal(fs.readFileSync(attempts[0]?.stdoutPath ?? '', 'utf8'), 'kept\n');
    await connection.close();
    await assert.rejects(moveWorkspace(move), code('NOT_FOUND'));
    const third = box.makeWorkspace('third');
    await (await inProcess(box, third)).close();
    await assert.rejects(moveWorkspace({ ...move, from: third }), code('CONFLICT'));
  });

  it('removes a queue with everything of it', async (t) => {
    const box = sandbox(t);
    const connection = await inProcess(box);
    await runs(connection, ['echo', 'x']);
    await connection.close();
    const server = await box.startServer();
    const removed = await removeWorkspace({ path: box.workspace, env: box.env, clock });
    assert.deepEqual([removed.path, removed.serverPid], [box.workspace, null]);
    assert.equal(await server.ended, 0);
    assert.deepEqual(fs.readdirSync(box.paths().workspaces), []);
    await assert.rejects(removeWorkspace({ path: box.workspace, env: box.env, clock }), code('NOT_FOUND'));
  });

  it('another folder at the path starts nothing by itself, until it is adopted', async (t) => {
    const box = sandbox(t);
    const connection = await openDirect({
      workspace: box.workspace,
      env: box.env,
      clock,
      warn: () => undefined,
      execute: false,
    });
    await connection.request(P.Add, { jobs: [{ argv: ['true'] }], caller: { env: {}, umask: 0 } });
    await connection.close();
    fs.renameSync(box.workspace, `${box.workspace}-old`);
    box.makeWorkspace('project');
    await assert.rejects(inProcess(box), code('REFUSED'));
    assert.equal((await listWorkspaces({ env: box.env, clock }))[0]?.state, 'missing');
    const adopted = await adoptWorkspace({ path: box.workspace, env: box.env, clock });
    assert.deepEqual([adopted.state, adopted.counts?.queued], ['present', 1]);
    const again = await inProcess(box);
    const { jobs } = await again.request(P.Wait, { selection: { ids: ['last'] } });
    assert.equal(jobs[0]?.state, 'done');
    await again.close();
  });
});

describe('doctor without a server', () => {
  it('tells something even when the database cannot be opened', async (t) => {
    const box = sandbox(t);
    const options = { workspace: box.workspace, env: box.env, clock, deep: false };
    const none = await doctor(options);
    assert.equal(none.ok, true);
    assert.equal(fs.existsSync(box.env['LANEWAY_HOME'] ?? ''), false, 'looking makes nothing');
    const { folder, database } = box.paths();
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(database, 'this is no database, but long enough to be looked at as one '.repeat(100));
    const broken = await doctor(options);
    assert.equal(broken.ok, false);
    const failed = broken.checks.filter(({ status }) => status === 'fail');
    assert.deepEqual(
      failed.map(({ id }) => id),
      ['database'],
    );
    assert.ok(broken.checks.length > 5);
    assert.equal(fs.readFileSync(database, 'utf8').startsWith('this is no database'), true, 'doctor changes nothing');
  });
});

describe('a full disk (NLnetLabs/krill#315)', () => {
  it('is told, hurts nothing, and work goes on when space returns', async (t) => {
    const box = sandbox(t);
    const disk = path.join(box.root, 'state');
    fs.mkdirSync(disk, { mode: 0o700 });
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=700', 'tmpfs', disk]);
    if (mounted.status !== 0) {
      t.skip('a file system of its own cannot be mounted here');
      return;
    }
    try {
      await box.startServer();
      const mine = await client(box.paths().socket);
      await mine.request(P.LanesSet, { name: 'still', settings: {} });
      await mine.request(P.Pause, { lanes: ['still'] });
      const ballast = path.join(disk, 'ballast');
      spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'], { stdio: 'ignore' });
      const job = { argv: ['true', 'x'.repeat(60_000)], lane: 'still' };
      await assert.rejects(
        async () => {
          for (let i = 0; i < 200; i++) await mine.add(...Array.from({ length: 5 }, () => job));
        },
        (error: Error & { code?: string }) => error.code === 'ENVIRONMENT' && /full/.test(error.message),
      );
      const before = (await mine.request(P.StatusRequest, null)).counts.queued;
      fs.rmSync(ballast);
      await mine.add(job);
      assert.equal((await mine.request(P.StatusRequest, null)).counts.queued, before + 1);
      const { checks } = await mine.request(P.Doctor, { deep: true });
      assert.deepEqual(
        checks.filter(({ status }) => status === 'fail'),
        [],
      );
      await mine.request(P.ServerStop, { force: true });
      await mine.closed;

      // Too full for a server to begin, or to leave a word about it.
      spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k'], { stdio: 'ignore' });
      for (const flags of [[], ['--direct']]) {
        const { code, stderr } = await box.lane([...flags, 'add', '--', 'true']);
        assert.equal(code, 3, stderr);
        assert.match(stderr, /the disk is full.*\n.*Free some space/);
      }
      const { stdout } = spawnSync('find', [disk, '-name', '*.tmp'], { encoding: 'utf8' });
      assert.equal(stdout, '', 'nothing of a failed write is left');
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  });
});
