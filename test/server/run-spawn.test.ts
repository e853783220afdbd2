/** Both ways to start a process answer alike: Node's own, and execa's, which Windows needs. */
import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createSpawn } from '../../server/run/spawn.ts';
import type { SpawnRequest } from '../../server/run/spawn.ts';

const PATH = process.env['PATH'] ?? '/usr/bin:/bin';

for (const platform of ['linux', 'win32'] as const) {
  test(`a process is started, or it is told why not (as on ${platform})`, async (t) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'laneway-spawn-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const file = path.join(folder, 'log');
    const log = openSync(file, 'a', 0o600);
    t.after(() => closeSync(log));
    const spawn = await createSpawn(platform);
    const mask = process.umask();
    process.env['NODE_V8_COVERAGE'] ??= path.join(folder, 'coverage');
    const start = (request: Partial<SpawnRequest>) =>
      spawn({ argv: [], cwd: folder, env: { PATH }, umask: 0o27, stdout: log, stderr: log, ...request });
    const exit = async (text: string) => {
      const spawned = start({ argv: ['sh', '-c', text], env: { PATH, GIVEN: 'a b' } });
      assert.ok(spawned.started && spawned.pid > 0);
      return spawned.exited;
    };
    const refusal = async (request: Partial<SpawnRequest>) => {
      const spawned = start(request);
      assert.ok(!spawned.started);
      return spawned.failure;
    };

    assert.deepEqual(await exit('echo "$GIVEN $HOME$NODE_V8_COVERAGE|" >&2; umask; pwd; exit 3'), {
      code: 3,
      signal: null,
    });
    assert.match(readFileSync(file, 'utf8'), new RegExp(`^a b \\|\\n0?027\\n.*${path.basename(folder)}\\n$`));
    assert.deepEqual(await exit('kill -9 $$'), { code: null, signal: 'SIGKILL' });
    // The first is told by an event, the others by what is thrown.
    for (const [request, reason] of [
      [{ argv: ['no-such-program'] }, /no program "no-such-program" on its PATH/],
      [{ argv: ['true'], env: { PATH, BIG: 'x'.repeat(200_000) } }, /too large.*E2BIG/],
      [{ argv: ['true', 'a\0b'] }, /true could not be started: .*null bytes/],
    ] as const) {
      const { kind, error } = await refusal({ ...request, argv: [...request.argv] });
      assert.equal(kind, 'spawn_failed');
      assert.match(error, reason);
    }
    assert.deepEqual(await exit('exit 0'), { code: 0, signal: null });
    assert.equal(process.umask(), mask);
  });
}
