/** What is typed, chosen or configured becomes exactly one job. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formOf,
  laneProblem,
  lineOf,
  OPTIONS,
  problem,
  readTyped,
  showArgv,
  withHistory,
} from '../../../client/vscode/addJob/jobForm.ts';
import { packageScripts, scriptRunner, taskCommand } from '../../../client/vscode/addJob/taskCommand.ts';
import { attemptOf, folderOf, idOf, laneOf } from '../../../client/vscode/commands/arguments.ts';
import { taskExit, taskRequest } from '../../../client/vscode/tasks/taskDefinition.ts';
import { job } from './fixtures.ts';

describe('what was typed', () => {
  const cases: [text: string, argv: string[], detail: RegExp][] = [
    ['npm test', ['npm', 'test'], /^argv: npm {2}test$/],
    [`node -e 'a b' "" --x`, ['node', '-e', 'a b', '', '--x'], /"a b" {2}"" {2}--x$/],
    ['ls | wc -l', ['sh', '-c', 'ls | wc -l'], /shell \(sh -c\).*pipe/],
    ['echo $HOME', ['sh', '-c', 'echo $HOME'], /\$/],
    ["echo '$HOME' '*'", ['echo', '$HOME', '*'], /^argv/],
    ['a && b', ['sh', '-c', 'a && b'], /&/],
    ['  rm *.log ', ['sh', '-c', 'rm *.log'], /pattern/],
  ];
  for (const [text, argv, detail] of cases) {
    it(text, () => {
      const read = readTyped(text, 'linux');
      assert.deepEqual(read?.argv, argv);
      assert.match(read?.detail ?? '', detail);
    });
  }

  it('is nothing when empty, and refused when a quote stays open', () => {
    assert.equal(readTyped('  ', 'linux'), null);
    assert.throws(() => readTyped('echo "a', 'linux'), /never closed/);
  });

  it('survives editing: the line of a job reads back as its argv', () => {
    for (const argv of [
      ['a b', '', '-x', "it's", '$HOME', '*', 'ä'],
      ['sh', '-c', 'ls | wc'],
    ]) {
      assert.deepEqual(readTyped(lineOf(argv), 'linux')?.argv, argv);
    }
  });

  it('shows control characters of an argument', () => {
    assert.equal(showArgv(['a\u001b[0m']), '"a\\u001b[0m"');
  });

  it('is remembered once, the newest first, up to a limit', () => {
    assert.deepEqual(withHistory(['a', 'b'], 'b'), ['b', 'a']);
    assert.equal(withHistory(Array.from({ length: 60 }, String), 'x').length, 50);
  });
});

describe('options behind the gear', () => {
  const option = (key: string) => OPTIONS.find((each) => each.key === key)!;
  const form = { argv: ['x'] };
  it('read what they show', () => {
    const typed = {
      priority: '-3',
      afterMs: '5m',
      maxRetries: '2',
      timeoutMs: '1h30m',
      cwd: 'sub',
      label: 'L',
      key: 'k',
      needs: '#4, #5',
    };
    for (const [key, text] of Object.entries(typed)) {
      const filled = option(key).read(form, text);
      assert.equal(option(key).show(filled), text, key);
      assert.deepEqual(option(key).read(filled, '')[option(key).key], null, `${key} is taken away`);
    }
  });
  it('say what is wrong', () => {
    assert.match(problem(option('priority'), form, '1.5') ?? '', /whole number/);
    assert.match(problem(option('timeoutMs'), form, 'soon') ?? '', /duration/);
    assert.match(problem(option('needs'), form, 'x') ?? '', /whole number/);
    assert.equal(problem(option('maxRetries'), form, '3'), null);
    assert.equal(laneProblem('web-1'), null);
    assert.ok(laneProblem('-web'));
  });
  it('take over a job without its key and needs', () => {
    const again = formOf(job(1, { key: 'k', needs: [1], timeoutMs: 5, tags: { a: 'b' } }));
    assert.equal(again.key, undefined);
    assert.equal(again.needs, undefined);
    assert.equal(again.timeoutMs, 5);
    assert.deepEqual(again.tags, { a: 'b' });
  });
});

describe('tasks and scripts', () => {
  const variables = { workspaceFolder: '/w/app', userHome: '/home/p', env: { CI: '1' } };
  it('become a process, or a line for the shell, with their variables filled in', () => {
    const process = taskCommand('t', { process: '${workspaceFolder}/x', args: ['a b', '${env:CI}'] }, variables);
    assert.deepEqual(process.argv, ['/w/app/x', 'a b', '1']);
    assert.equal(taskCommand('t', { commandLine: 'make -C ${userHome}' }, variables).line, 'make -C /home/p');
    const shell = taskCommand('t', { command: 'npm', args: ['run', 'a b', { value: '$x' }, '"q q"'] }, variables);
    assert.equal(shell.line, `npm run 'a b' '$x' "q q"`);
    const cwd = taskCommand(
      't',
      { commandLine: 'x', options: { cwd: '${workspaceFolder}/s', env: { A: '${env:CI}' } } },
      variables,
    );
    assert.deepEqual([cwd.cwd, cwd.env], ['/w/app/s', { A: '1' }]);
  });
  it('are refused when only the editor could fill them in, or they run no command', () => {
    assert.throws(() => taskCommand('t', { commandLine: 'x ${input:y}' }, variables), /\$\{input:y\}/);
    assert.throws(() => taskCommand('t', undefined, variables), /no command/);
  });
  it('know the runner by the lock file, and read scripts from any package.json', () => {
    assert.equal(scriptRunner(['pnpm-lock.yaml']), 'pnpm');
    assert.equal(scriptRunner(['package-lock.json']), 'npm');
    assert.deepEqual(packageScripts('{"scripts":{"a":"b","c":1}}'), [{ name: 'a', command: 'b' }]);
    assert.deepEqual(packageScripts('no json'), []);
  });
  it('of type laneway become a job and end as it ends', () => {
    const request = taskRequest(
      { type: 'laneway', command: 'npm test', lane: 'web', timeout: '5m', retries: 1 },
      'T',
      'linux',
    );
    assert.deepEqual(
      [request.argv, request.label, request.lane, request.timeoutMs, request.maxRetries],
      [['npm', 'test'], 'T', 'web', 300_000, 1],
    );
    assert.deepEqual(taskRequest({ type: 'laneway', argv: ['a', '$b'] }, 'T', 'linux').argv, ['a', '$b']);
    assert.throws(() => taskRequest({ type: 'laneway' }, 'T', 'linux'), /no command/);
    const ended = { exitCode: null, failureReason: null };
    assert.equal(taskExit({ ...ended, state: 'done', exitCode: 0 }), 0);
    assert.equal(taskExit({ ...ended, state: 'dead', exitCode: 3, failureReason: 'process_exit' }), 3);
    assert.equal(taskExit({ ...ended, state: 'dead', failureReason: 'timeout' }), 124);
    assert.equal(taskExit({ ...ended, state: 'canceled' }), 130);
  });
});

describe('arguments of commands', () => {
  it('name a job, a lane, a folder or an attempt in every accepted way', () => {
    assert.deepEqual(
      [idOf(5), idOf('5'), idOf('last'), idOf({ id: 5 }), idOf({ job: { id: 5 } })],
      [5, 5, 'last', 5, 5],
    );
    assert.deepEqual(
      [idOf(undefined), idOf(null), idOf({}), idOf({ id: 'lane web' }), idOf(1.5)],
      [null, null, null, null, null],
    );
    assert.deepEqual(
      [laneOf('web'), laneOf({ lane: 'web' }), laneOf({ lane: { name: 'web' } })],
      ['web', 'web', 'web'],
    );
    assert.deepEqual([laneOf({ job: { lane: 'web' } }), laneOf(undefined)], ['web', null]);
    assert.deepEqual([folderOf({ folder: '/w' }), folderOf({ cwd: '/w/x' }), folderOf(3)], ['/w', '/w/x', null]);
    assert.deepEqual([attemptOf({ attempt: { number: 2 } }), attemptOf({ attempt: 2 }), attemptOf(7)], [2, 2, null]);
  });
});
