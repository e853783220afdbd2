/** What is around every verb: version, help, global flags, the Node that runs it, colours, and that all it makes is private. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Server } from '../../shared/job.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';

describe('the bootstrap', () => {
  it('answers --version, --help, and unknown verbs, without making anything', async (t) => {
    const box = sandbox(t);
    assert.match((await box.lane(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/);
    for (const args of [['--help'], ['help'], ['-h'], ['add', '--help'], ['help', 'logs'], ['server', '-h']]) {
      const { code, stdout } = await box.lane(args);
      assert.equal(code, 0, args.join(' '));
      assert.match(stdout, /Usage/, args.join(' '));
    }
    const unknown = await box.lane(['statsu']);
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /^lane: "statsu" is no verb of lane\n {2}Did you mean status\?\n$/);
    assert.ok(!fs.existsSync(box.paths().home));
  });

  it('takes global flags before the verb, and bare lane is the status', async (t) => {
    const box = sandbox(t);
    const elsewhere = box.makeWorkspace('elsewhere');
    const before = await box.json<{ server: Server }>(['--workspace', elsewhere]);
    assert.equal(before.server.workspace, elsewhere);
    const after = await box.json<{ server: Server }>(['status', `--workspace=${elsewhere}`]);
    assert.equal(after.server.workspace, elsewhere);
    assert.match((await box.lane([])).stdout, new RegExp(box.workspace));
  });

  it('says that Node is too old, in words and as JSON (C21)', async (t) => {
    const old = olderNode();
    if (old === null) {
      t.skip('no Node older than 22 on this machine');
      return;
    }
    const box = sandbox(t);
    for (const args of [
      ['add', '--', 'true'],
      ['--json', 'list'],
    ]) {
      const { code, stdout, stderr } = await runWith(old, args, box);
      assert.deepEqual([code, stdout], [3, '']);
      const text = args[0] === '--json' ? (JSON.parse(stderr) as { error: { message: string } }).error.message : stderr;
      assert.match(text, /needs Node 22 or newer/);
    }
    assert.ok(!fs.existsSync(box.paths().home));
  });

  it('colours only on request when stdout is no terminal', async (t) => {
    const box = sandbox(t);
    const escape = '\u001b[';
    assert.ok(!(await box.lane(['status'])).stdout.includes(escape));
    assert.ok((await box.lane(['status'], { env: { FORCE_COLOR: '1' } })).stdout.includes(escape));
    assert.ok(!(await box.lane(['status'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } })).stdout.includes(escape));
  });

  it('keeps everything it makes private, the code cache too', async (t) => {
    if (process.platform === 'win32') return t.skip('Windows has no such modes');
    const box = sandbox(t);
    await box.json(['add', '--wait', '--', 'sh', '-c', 'umask']);
    assert.match((await box.lane(['output', 'last'])).stdout, new RegExp(process.umask().toString(8).padStart(3, '0')));
    await box.lane(['list']);
    const { home } = box.paths();
    for (const entry of fs.readdirSync(home, { recursive: true, withFileTypes: true })) {
      const file = path.join(entry.parentPath, entry.name);
      assert.equal(fs.lstatSync(file).mode & 0o077, 0, file);
    }
    assert.ok(fs.existsSync(path.join(home, 'code-cache')));
  });
});

/** A Node below 22 somewhere on the PATH that is not ours. */
function olderNode(): string | null {
  for (const folder of ['/usr/local/bin', '/usr/bin', ...(process.env['PATH'] ?? '').split(path.delimiter)]) {
    const node = path.join(folder, 'node');
    try {
      const version = execFileSync(node, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      if (Number.parseInt(version.slice(1), 10) < 22) return node;
    } catch {
      // Not there, or not runnable.
    }
  }
  return null;
}

function runWith(
  node: string,
  args: string[],
  box: Sandbox,
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [path.join(dist, 'cli.js'), ...args], { cwd: box.workspace, env: box.env });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}
