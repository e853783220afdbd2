/** Environments that differ in where sockets lie, files that somebody deletes, ground on which no folder can be made. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Job, Server } from '../../shared/job.ts';
import { tryFileLock } from '../../server/store/fileLock.ts';
import { sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { isAlive } from '../helpers/processes.ts';

test('a terminal with another runtime folder finds the server that runs, and another once that was killed', async (t) => {
  const box = sandbox(t);
  const first = await box.startServer();
  const env = { LANEWAY_RUNTIME: path.join(box.root, 'other') };
  assert.equal((await box.json<Server>(['server', 'status'], { env })).pid, first.pid);
  const { job } = await box.json<{ job: Job }>(['run', '--', 'true'], { env });
  assert.equal(job.state, 'done');
  const { checks } = await box.json<{ checks: { id: string; message: string }[] }>(['doctor'], { env });
  assert.match(checks.find(({ id }) => id === 'server')?.message ?? '', /a server runs .*found at/);
  // One more server leaves at once, as it does beside one on the same socket.
  const second = box.startServer({ env });
  await assert.rejects(second, /ended at once \(0\)/);
  await box.killServer();
  const again = await box.json<Server>(['server', 'start'], { env });
  assert.notEqual(again.pid, first.pid);
  assert.equal(path.dirname(path.dirname(again.socket ?? '')), env.LANEWAY_RUNTIME);
  // And back: the folder it was first started with is now the other one.
  assert.equal((await box.json<Server>(['server', 'status'])).pid, again.pid);
  await box.json(['server', 'stop'], { env });
  await waitFor(() => !isAlive(again.pid ?? 0), { what: 'the server to end' });
});

test(
  'a folder that cannot be made is an error, at once',
  { skip: fs.existsSync('/proc/self') ? false : 'there is no /proc here' },
  async (t) => {
    const box = sandbox(t);
    for (const env of [{ LANEWAY_HOME: '/proc/laneway/state' }, { LANEWAY_HOME: '/dev/null/state' }]) {
      const { code, stdout, stderr } = await box.lane(['--json', '--direct', 'add', '--', 'true'], { env });
      assert.equal(code, 3, stderr);
      assert.equal(stdout, '');
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string | null } };
      assert.equal(error.code, 'ENVIRONMENT');
      assert.match(error.message, /the folder .* cannot be made ready \(ENO/);
      assert.ok(error.hint);
    }
    const { code, stderr } = await box.lane(['add', '--', 'true'], { env: { LANEWAY_RUNTIME: '/proc/laneway' } });
    assert.equal(code, 3);
    assert.match(stderr, /the folder \/proc\/laneway.* cannot be made ready/);
  },
);

test('a server whose lock and introduction were deleted makes them again', async (t) => {
  const box = sandbox(t);
  const first = await box.startServer();
  const { lock, serverFile } = box.paths();
  fs.rmSync(lock);
  fs.rmSync(serverFile);
  await waitFor(() => fs.existsSync(lock) && fs.existsSync(serverFile), { what: 'both files to be there again' });
  await assert.rejects(box.startServer(), /ended at once \(0\)/);
  assert.equal((await box.json<Server>(['server', 'status'])).pid, first.pid);
});

test('a server whose lock another one took makes way: its jobs end, its socket is no longer its own', async (t) => {
  const box = sandbox(t);
  const first = await box.startServer();
  const { lock } = box.paths();
  // It may be quicker than we are.
  const taken = await waitFor(async () => {
    fs.rmSync(lock, { force: true });
    return tryFileLock(lock);
  });
  box.defer(async () => taken?.release());
  assert.equal(await first.ended, 0);
  assert.match(fs.readFileSync(box.paths().serverLog, 'utf8'), /another server took its place/);
});

test('what cannot be looked at is no workspace, and no reason to fail', async (t) => {
  const box = sandbox(t);
  fs.symlinkSync('.vscode', path.join(box.workspace, '.vscode'));
  fs.rmSync(path.join(box.workspace, '.git'), { recursive: true });
  const { job } = await box.json<{ job: Job }>(['--direct', 'run', '--', 'true']);
  assert.equal(job.cwd, box.workspace);
  const { code, stderr } = await box.lane(['list'], { env: { LANEWAY_RUNTIME: '/dev/null' } });
  assert.equal(code, 3);
  assert.match(stderr, /\/dev\/null\/laneway-\d+ cannot be reached \(ENOTDIR\)\n {2}Set LANEWAY_RUNTIME/);
});
