/** Help, version and questions, as the bundle gives them. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { dist, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const root = path.resolve(import.meta.dirname, '../..');
const fixture = (name: string): string => fs.readFileSync(path.join(root, `test/fixtures/help/${name}.txt`), 'utf8');

describe('lane', () => {
  it('gives help for itself and for every verb, on stdout, and starts nothing', async (t) => {
    const box = sandbox(t);
    const table: [string[], string][] = [
      [['--help'], 'overview'],
      [['help'], 'overview'],
      [['help', 'list'], 'list'],
      [['ls', '-h'], 'list'],
      [['cancel', '1', '--help'], 'cancel'],
      [['help', 'logs'], 'output'],
    ];
    for (const [args, name] of table) {
      const { code, stdout, stderr } = await box.lane(args);
      assert.deepEqual([code, stderr], [0, ''], args.join(' '));
      assert.equal(stdout, fixture(name), args.join(' '));
    }
    assert.equal(box.serverPid(), null);
  });

  it('says its version', async (t) => {
    const box = sandbox(t);
    const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string };
    assert.equal((await box.lane(['--version'])).stdout, `${version}\n`);
    assert.deepEqual(JSON.parse((await box.lane(['list', '--version', '--json'])).stdout), { version });
  });

  const noTerminal =
    process.platform !== 'linux' || spawnSync('script', ['--version']).status !== 0
      ? 'the script program of util-linux, which makes a terminal, is not here'
      : false;

  it('asks before it stops running jobs, at a terminal of any width', { skip: noTerminal }, async (t) => {
    const box = sandbox(t);
    await box.json(['add', '--label', `a long label ${'x'.repeat(100)}`, '--', 'sleep', '600']);
    await waitFor(async () => (await box.json<{ jobs: unknown[] }>(['list', '--state', 'running'])).jobs.length === 1);
    const atTerminal = (command: string, answer: string): { status: number | null; text: string } => {
      const lane = `'${process.execPath}' '${path.join(dist, 'cli.js')}'`;
      const { status, stdout } = spawnSync('script', ['-qec', `stty cols 60; ${lane} ${command}`, '/dev/null'], {
        cwd: box.workspace,
        env: { ...box.env, TERM: 'xterm', NO_COLOR: '1' },
        input: answer,
        encoding: 'utf8',
      });
      return { status, text: stdout };
    };
    const list = atTerminal('list', '');
    assert.equal(list.status, 0);
    for (const line of list.text.split(/\r?\n/)) assert.ok(line.length <= 60, line);
    assert.match(list.text, /…/);
    assert.match(atTerminal('cancel --all', 'n\n').text, /This stops 1 running job\. Go on\?/);
    assert.equal(atTerminal('cancel --all', '\n').status, 2);
    assert.equal(atTerminal('cancel --all --wait', 'y\n').status, 0);
    assert.equal((await box.json<{ counts: { canceled: number } }>(['status'])).counts.canceled, 1);
  });
});
