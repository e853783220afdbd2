/** What a server refuses to stand on, and which folder is meant at all. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { LanewayError } from '../../shared/errors.ts';
import { findWorkspace } from '../../shared/paths.ts';
import { EventsHint, ServerStop, Show, Subscribe } from '../../shared/protocol.ts';
import { client } from '../helpers/client.ts';
import { isAlive } from '../helpers/processes.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { startUnwatched } from './unwatched.ts';

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

/** An SQLite file whose header says a schema that no build of today knows. */
function newerDatabase(file: string): void {
  inDatabase(file, "db.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)'); db.pragma('user_version = 9999')");
}

/** In a process of its own, so that no lock of this one is touched. */
function inDatabase(file: string, statements: string): void {
  const script = `const D = require('better-sqlite3'); const db = new D(process.argv[1]); ${statements}; db.close();`;
  execFileSync(process.execPath, ['-e', script, file], { stdio: 'inherit', cwd: path.dirname(dist) });
}
