/** `lane` for shells whose start-up files set PATH anew, tried in every such shell that is here. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import {
  askShell,
  installCli,
  runShell,
  type Shell,
  writeLauncher,
} from '../../../client/vscode/terminal/installCli.ts';
import { missedLane, withoutFolder } from '../../../client/vscode/terminal/missedLane.ts';

const windows = process.platform === 'win32' && 'its PATH is set in another way';

/** A shell's start-up file, and how a person starts it in the editor. */
const SHELLS = [
  { name: 'zsh', start: '.zshrc', args: ['-l', '-i', '-c'] },
  { name: 'bash', start: process.platform === 'darwin' ? '.bash_profile' : '.bashrc', args: ['-i', '-c'] },
  { name: 'sh', start: '.profile', args: ['-l', '-i', '-c'] },
].map((shell) => ({
  ...shell,
  program: ['/bin', '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
    .map((folder) => path.join(folder, shell.name))
    .find(existsSync),
}));

describe('installing lane for a shell', { skip: windows }, () => {
  let home: string;
  let shim: string;
  const env = { PATH: '/usr/bin:/bin', LANG: 'C' };

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'laneway-home-'));
    shim = path.join(home, "editor's", 'lane');
    mkdirSync(path.dirname(shim));
    writeFileSync(shim, '#!/bin/sh\necho "the shim got $# words: $*"\n', { mode: 0o755 });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const shellOf = (program: string): Shell => ({ program, home, env, platform: process.platform });

  for (const { name, program, start, args } of SHELLS) {
    it(
      `is found by ${name} although it resets PATH`,
      { skip: program ? false : `there is no ${name} here` },
      async () => {
        assert.ok(program);
        writeFileSync(path.join(home, start), 'PATH="/usr/bin:/bin:$HOME/.local/bin"\nexport PATH\necho chatter\n');
        const lost = await askShell(shellOf(program));
        assert.equal(lost?.lane, null);
        const installed = await installCli(shellOf(program), shim);
        assert.deepEqual(installed, { file: path.join(home, '.local/bin/lane'), found: true, other: null, add: null });
        const said = await runShell(program, [...args, 'lane add -- "a b"'], { ...env, HOME: home });
        assert.match(said, /the shim got 3 words: add -- a b/);
        assert.equal((await installCli(shellOf(program), shim)).found, true, 'a second time, too');
      },
    );

    it(`says what ${name} lacks, and that works`, { skip: program ? false : `there is no ${name} here` }, async () => {
      assert.ok(program);
      const file = path.join(home, start);
      writeFileSync(file, 'PATH="/usr/bin:/bin"\nexport PATH\n');
      const { found, add } = await installCli(shellOf(program), shim);
      assert.equal(found, false);
      assert.ok(add);
      writeFileSync(file, `${readFileSync(file, 'utf8')}${add.line}\n`);
      assert.equal((await installCli(shellOf(program), shim)).found, true);
      assert.equal(path.basename(add.file), start);
    });
  }

  it('replaces only what Laneway wrote', async () => {
    const file = path.join(home, 'bin', 'lane');
    await writeLauncher(file, '/old/shim');
    await writeLauncher(file, shim);
    assert.match(readFileSync(file, 'utf8'), /editor'\\''s/);
    const foreign: Record<string, () => void> = {
      program: () => writeFileSync(file, '#!/bin/sh\necho mine\n'),
      link: () => symlinkSync(shim, file),
      'dangling link': () => symlinkSync('/nowhere', file),
      folder: () => mkdirSync(file),
    };
    for (const [what, make] of Object.entries(foreign)) {
      rmSync(file, { recursive: true, force: true });
      make();
      await assert.rejects(writeLauncher(file, shim), /is there already, and Laneway did not write it/, what);
    }
    assert.ok(existsSync(file));
    assert.deepEqual(execFileSync('ls', [path.dirname(file)], { encoding: 'utf8' }), 'lane\n', 'nothing left behind');
  });

  it('names another lane that comes first', async () => {
    const first = path.join(home, 'bin');
    mkdirSync(first);
    writeFileSync(path.join(first, 'lane'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(path.join(home, '.profile'), 'PATH="$HOME/bin:$HOME/.local/bin:/usr/bin:/bin"\nexport PATH\n');
    const installed = await installCli(shellOf('/bin/sh'), shim);
    assert.equal(installed.found, false);
    assert.equal(installed.other, path.join(first, 'lane'));
  });

  it('says so when the extension is gone, and when the shell says nothing', async () => {
    const { file, found, add } = await installCli(shellOf('/bin/false'), shim);
    assert.deepEqual([found, add], [null, null]);
    rmSync(shim);
    assert.throws(() => execFileSync(file, { stdio: 'pipe' }), /not installed any more; delete .*lane/);
  });
});

describe('a terminal that knows no lane', () => {
  it('is told by its exit code, and not by that of a job', () => {
    for (const line of ['lane', ' lane add -- npm run build', 'lane --json']) assert.ok(missedLane(line, 127), line);
    for (const line of ['lane run -- nosuch', 'lane --json checkpoint a -- x', 'lanes', 'npm run lane']) {
      assert.ok(!missedLane(line, 127), line);
    }
    assert.ok(!missedLane('lane', 0) && !missedLane('lane', undefined));
    const [a, b] = [path.resolve('/a'), path.resolve('/b')];
    assert.equal(withoutFolder([a, b, a].join(path.delimiter), a), b);
  });
});
