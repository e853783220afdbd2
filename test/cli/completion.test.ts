/** The completion scripts, sourced into the real shells where they are installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { type Sandbox, dist, sandbox } from '../helpers/sandbox.ts';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const missing = (shell: string): string | false => (has(shell) ? false : `${shell} is not installed`);

/** The scripts drop what lane says on stderr; here it is kept, to be told when a test fails. */
const errors = (box: Sandbox): string => path.join(box.root, 'lane.err');

/** Puts a `lane` onto the sandbox's PATH that runs the bundle. */
function installLane(box: Sandbox): Record<string, string> {
  const bin = path.join(box.root, 'bin');
  fs.mkdirSync(bin);
  fs.writeFileSync(
    path.join(bin, 'lane'),
    `#!/bin/sh\nexec "${process.execPath}" "${path.join(dist, 'cli.js')}" "$@" 2>>"$LANE_ERRORS"\n`,
    {
      mode: 0o755,
    },
  );
  return { ...box.env, PATH: `${bin}${path.delimiter}${box.env['PATH'] ?? ''}`, LANE_ERRORS: errors(box) };
}

function runShell(box: Sandbox, env: Record<string, string>, shell: string, args: string[], script: string): string[] {
  const { status, stdout, stderr } = spawnSync(shell, args, {
    cwd: box.workspace,
    env,
    input: script,
    encoding: 'utf8',
  });
  const said = fs.existsSync(errors(box)) ? fs.readFileSync(errors(box), 'utf8') : '';
  assert.equal(said, '', 'lane had nothing to complain of');
  assert.equal(status, 0, `${stderr}\n${stdout}`);
  return stdout.split('\n').filter((line) => line !== '');
}

async function prepared(box: Sandbox): Promise<Record<string, string>> {
  await box.json(['add', '--lane', 'build', '--after', '1h', '--label', 'night', '--', 'make']);
  await box.json(['add', '--wait', '--', 'true']);
  fs.mkdirSync(path.join(box.workspace, 'folder'));
  fs.writeFileSync(path.join(box.workspace, 'file.ndjson'), '');
  return installLane(box);
}

/** What is typed before the cursor, and some of what must and must not be offered. */
const CASES: [line: string, offered: string[], not: string[]][] = [
  ['lane ca', ['cancel'], ['add']],
  ['lane li', ['list'], ['lanes']],
  ['lane list --st', ['--state'], ['--lane']],
  ['lane list --state queued,r', ['queued,running', 'queued,retrying'], ['queued,done']],
  ['lane cancel ', ['1', 'last', 'label:night'], ['2']],
  ['lane show ', ['1', '2', 'last'], []],
  ['lane pause b', ['build'], ['default']],
  ['lane list --lane ', ['build', 'default'], []],
  ['lane add --cwd fol', ['folder'], ['file.ndjson']],
  ['lane add --from f', ['file.ndjson'], []],
  ['lane add -- cat fi', ['file.ndjson'], []],
];

/** `complete` gives what one shell offers for each line, in order. */
function check(complete: (lines: string[]) => string[][], cases = CASES): void {
  const all = complete(cases.map(([line]) => line));
  for (const [index, [line, offered, not]] of cases.entries()) {
    const got = (all[index] ?? []).map((value) => value.replace(/\/$/, '').trim());
    for (const value of offered) assert.ok(got.includes(value), `"${line}" offers ${value}: ${got.join(' ')}`);
    for (const value of not) assert.ok(!got.includes(value), `"${line}" does not offer ${value}`);
  }
}

/** One shell for all lines; each line's candidates end with a marker. */
const MARK = '@@';
function groups(output: string[]): string[][] {
  const lists: string[][] = [[]];
  for (const line of output) {
    if (line === MARK) lists.push([]);
    else lists.at(-1)?.push(line);
  }
  return lists;
}

describe('completion', () => {
  it('works in bash', { skip: missing('bash') }, async (t) => {
    const box = sandbox(t);
    const env = await prepared(box);
    // Bash gives the function the line, the cursor, and the words as it breaks them itself.
    const one = (line: string): string => `
      COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length}
      read -ra COMP_WORDS <<<"$(sed 's/[=:]/ & /g' <<<"$COMP_LINE")"
      [[ "$COMP_LINE" == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _lane; printf '%s\\n' "\${COMPREPLY[@]}" ${MARK}`;
    const start = `
      source <(lane completion bash)
      complete -p lane >/dev/null || exit 9
      COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'`;
    // What stands before = and : is on the line already, so only the rest may be given.
    const broken: typeof CASES = [
      ['lane cancel label:n', ['night'], ['label:night']],
      ['lane list --state=que', ['queued'], ['--state=queued']],
      ['lane pause --workspace=fol', ['folder'], []],
    ];
    check(
      (lines) => groups(runShell(box, env, 'bash', ['--norc', '-s'], [start, ...lines.map(one)].join('\n'))),
      [...CASES, ...broken],
    );
  });

  it('works in zsh', { skip: missing('zsh') }, async (t) => {
    const box = sandbox(t);
    const env = await prepared(box);
    // compadd and the file completers exist only inside the line editor: here they say what they were given.
    const start = `
      autoload -Uz compinit && compinit -u -d "$HOME/.zcompdump"
      source <(lane completion zsh)
      [[ "\${_comps[lane]}" = _lane ]] || exit 9
      compadd() { print -rl -- $values }
      _files() { [[ "$1" = -/ ]] && print -rl -- *(/) || print -rl -- * }
      _command_names() { print command }`;
    const one = (line: string): string => `
      words=(\${(z)$(print -r -- ${JSON.stringify(line)})})
      [[ ${JSON.stringify(line)} == *' ' ]] && words+=('')
      CURRENT=$#words
      _lane; print ${MARK}`;
    check(
      (lines) => groups(runShell(box, env, 'zsh', ['-f', '-s'], [start, ...lines.map(one)].join('\n'))),
      CASES.map(([line, offered]) => [line, offered, []]),
    );
  });

  it('works in fish', { skip: missing('fish') }, async (t) => {
    const box = sandbox(t);
    const env = await prepared(box);
    const one = (line: string): string =>
      `complete --do-complete ${JSON.stringify(line)} | string match -r '^[^\\t]+'; echo ${MARK}`;
    check((lines) => {
      const script = ['lane completion fish | source', ...lines.map(one)].join('\n');
      return groups(runShell(box, env, 'fish', ['--no-config', '-c', script], ''));
    });
  });

  it('works in PowerShell', { skip: missing('pwsh') }, async (t) => {
    const box = sandbox(t);
    const env = await prepared(box);
    const one = (line: string): string => `
      (TabExpansion2 -inputScript ${JSON.stringify(line)} -cursorColumn ${line.length}).CompletionMatches | ForEach-Object CompletionText
      '${MARK}'`;
    check(
      (lines) => {
        const script = ['lane completion powershell | Out-String | Invoke-Expression', ...lines.map(one)].join('\n');
        return groups(runShell(box, env, 'pwsh', ['-NoProfile', '-Command', '-'], script));
      },
      CASES.slice(0, 8),
    );
  });

  it('starts no server and says nothing where there is nothing to offer', async (t) => {
    const box = sandbox(t);
    const { code, stdout, stderr } = await box.lane(['__complete', 'fish', '--', 'show', '']);
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
    assert.equal(box.serverPid(), null);
  });
});
