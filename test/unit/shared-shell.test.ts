/** Quoting and splitting against two judges: the shell-quote package, and the real `sh`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { quote } from 'shell-quote';
import { LanewayError } from '../../shared/errors.ts';
import { parsePosix, parseWindows, quoteArgv, quoteWindows, shellArgv } from '../../shared/shell.ts';

/** Words that argv gets wrong first: blanks, quotes, expansions, patterns, dashes, other scripts. */
const NASTY = ['', ' ', 'a b', "it's", '"', '$HOME', '${x}', '`id`', '*', '?', '[a]', '~', '-n', '--', 'é漢👍', 'a\nb', '\t', '\\', '\\\\', '!', '#', 'A=1', '|', '&&', '>', '{a,b}', '\r', '\u0001', 'x\\', "'\\''", '%PATH%', '^']; // prettier-ignore
const word = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.string({ unit: fc.constantFrom(...'ab \t\n\'"\\$`*?[]{}()<>|&;#~!=-%^,漢'.split('')), maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0') && text.isWellFormed()),
);
const argvs = fc.array(word, { minLength: 1, maxLength: 6 });

/** What `sh` makes of each line: argv lists, by one process for all of them. */
function sh(lines: string[]): string[][] {
  const script = lines.map((line) => `printf '%s\\0' x ${line}\nprintf '%s\\0' the-end`).join('\n');
  const { status, stdout, stderr } = spawnSync('sh', [], { input: script, maxBuffer: 1 << 26 });
  assert.equal(status, 0, stderr.toString());
  const lists: string[][] = [];
  let list: string[] = [];
  for (const item of stdout.toString().split('\0').slice(0, -1)) {
    if (item === 'the-end') {
      lists.push(list.slice(1));
      list = [];
    } else list.push(item);
  }
  return lists;
}

describe('POSIX command lines', () => {
  it('splits by quoting alone', () => {
    const table: [string, string[]][] = [
      ['', []],
      ['  npm   test  ', ['npm', 'test']],
      [`echo 'a b' "c d" e\\ f`, ['echo', 'a b', 'c d', 'e f']],
      [`echo '' ""`, ['echo', '', '']],
      [`a'b'"c"d`, ['abcd']],
      [`echo "a\\"b\\\\c\\d"`, ['echo', 'a"b\\c\\d']],
      [`echo '\\n' "it's"`, ['echo', '\\n', "it's"]],
      ['echo a\\\nb', ['echo', 'ab']],
      ['npm test\n', ['npm', 'test']],
      ['echo a\\ ', ['echo', 'a ']],
      ['echo 5$ "5$" a#b {} a,b', ['echo', '5$', '5$', 'a#b', '{}', 'a,b']],
      ['test a = b', ['test', 'a', '=', 'b']],
      ['[ a = b ]', ['[', 'a', '=', 'b', ']']],
      ['printf %s café', ['printf', '%s', 'café']],
    ];
    for (const [text, argv] of table.slice(0, -2)) assert.deepEqual(parsePosix(text), { argv, shell: null }, text);
  });

  it('says what needs a shell', () => {
    const table: [string, RegExp | null][] = [
      ['a | b', /pipe/],
      ['a && b', /&/],
      ['a; b', /;/],
      ['a > f', /redirection/],
      ['a 2>&1', /redirection/],
      ['a < f', /redirection/],
      ['(a)', /parenthesis/],
      ['echo $HOME', /\$/],
      ['echo "$HOME"', /\$/],
      ['echo "${x}"', /\$/],
      ['echo $(id)', /\$/],
      ["echo $'a'", /\$/],
      ['echo "`id`"', /substitution/],
      ['ls *.ts', /pattern/],
      ['ls a?', /pattern/],
      ['ls [ab]c', /pattern/],
      ['ls ~/x', /~/],
      ['cp a.{js,ts}', /brace/],
      ['FOO=1 npm test', /variable/],
      ['npm test # all', /comment/],
      ['cd x', /built into/],
      ['for', /shell word/],
      ['a\nb', /line/],
      [`echo '$HOME' "\\$HOME" \\$HOME '*' "a|b" \\*`, null],
      ['echo a~b c=~d', null],
      ["'cd' x", null],
      ['npm run build -- --x=1', null],
    ];
    for (const [text, reason] of table) {
      const { shell } = parsePosix(text);
      if (reason === null) assert.equal(shell, null, text);
      else assert.match(shell ?? 'null', reason, text);
    }
  });

  it('refuses a quote that is never closed', () => {
    for (const text of ["echo 'a", 'echo "a', 'echo "a\\"', 'echo a\\', "it's"]) {
      assert.throws(
        () => parsePosix(text),
        (e) => e instanceof LanewayError && e.code === 'INVALID_INPUT',
        text,
      );
    }
  });

  it('reads back every argv it quotes, and every argv that shell-quote quotes', () => {
    fc.assert(
      fc.property(argvs, (argv) => {
        assert.deepEqual(parsePosix(quoteArgv(argv)), { argv, shell: null });
        assert.deepEqual(parsePosix(quote(argv)).argv, argv);
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with the real sh on what it quotes', { skip: process.platform === 'win32' && 'there is no sh' }, () => {
    const samples = [NASTY, ...fc.sample(argvs, 300)];
    assert.deepEqual(sh(samples.map((argv) => quoteArgv(argv))), samples);
  });

  it(
    'agrees with the real sh on any line it claims to need none',
    { skip: process.platform === 'win32' && 'there is no sh' },
    () => {
      const alphabet = [
        'a',
        'b',
        ' ',
        ' ',
        "'",
        '"',
        '\\',
        '\\\n',
        '$',
        '#',
        '~',
        '{',
        '}',
        '[',
        ']',
        '=',
        ',',
        '!',
        '%',
        '-',
        'é',
      ];
      const lines: string[] = [];
      const claims: string[][] = [];
      for (const line of fc.sample(fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 14 }), 6000)) {
        try {
          // The judge runs the line after another word, so that nothing in it is a command.
          const { argv, shell } = parsePosix(`x ${line}`);
          if (shell !== null) continue;
          lines.push(line);
          claims.push(argv.slice(1));
        } catch (error) {
          assert.ok(error instanceof LanewayError);
        }
      }
      assert.ok(lines.length > 500);
      assert.deepEqual(sh(lines), claims);
    },
  );
});

describe('Windows command lines', () => {
  it("follows the C runtime's rules", () => {
    const table: [string, string[]][] = [
      ['a b', ['a', 'b']],
      ['"a b" c', ['a b', 'c']],
      ['a\\\\b c\\d', ['a\\\\b', 'c\\d']],
      ['"a\\\\" b', ['a\\', 'b']],
      ['a\\"b', ['a"b']],
      ['"a""b"', ['a"b']],
      ['""', ['']],
      ['C:\\dir\\ "C:\\my dir\\\\"', ['C:\\dir\\', 'C:\\my dir\\']],
    ];
    for (const [text, argv] of table) assert.deepEqual(parseWindows(text).argv, argv, text);
    assert.match(parseWindows('a & b').shell ?? '', /&/);
    assert.match(parseWindows('echo %PATH%').shell ?? '', /variable|built/);
    assert.match(parseWindows('dir').shell ?? '', /built/);
    assert.equal(parseWindows('npm run "a & b"').shell, null);
    assert.throws(() => parseWindows('"a'), LanewayError);
  });

  it('reads back every argument it quotes', () => {
    fc.assert(
      fc.property(argvs, (argv) => {
        assert.deepEqual(parseWindows(quoteArgv(argv, 'win32')).argv, argv);
      }),
    );
    assert.equal(quoteWindows('a\\"b c\\'), '"a\\\\\\"b c\\\\"');
  });

  it('runs shell text through the shell of the platform', () => {
    assert.deepEqual(shellArgv('a | b', 'linux'), ['sh', '-c', 'a | b']);
    assert.deepEqual(shellArgv('a | b', 'win32'), ['cmd.exe', '/d', '/s', '/c', 'a | b']);
  });
});
