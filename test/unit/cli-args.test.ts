/** Flags: declared once, parsed here; and the batch form, which uses the same parsers. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { LanewayError } from '../../shared/errors.ts';
import { commonRequest, JOB_FLAGS, requestOf, type JobFlags } from '../../client/cli/addFlags.ts';
import {
  choice,
  duration,
  many,
  parseArgs,
  parsed,
  parsePair,
  text,
  toggle,
  whole,
  type Flags,
} from '../../client/cli/args.ts';
import { ofLine, parseBatch } from '../../client/cli/batch.ts';
import { wantsColour } from '../../client/cli/output.ts';
import { progressText } from '../../client/cli/progress.ts';
import { sayTime } from '../../shared/format.ts';
import { statusOf } from '../../client/cli/verbs/run.ts';
import type { Job } from '../../shared/job.ts';

const FLAGS = {
  lane: text('NAME', 'a lane', { aliases: ['queue'] }),
  retryDelay: duration('a delay'),
  priority: whole('N', 'a priority', -10, 10),
  tag: many(parsed('K=V', 'a tag', parsePair)),
  follow: toggle('follow', { short: 'f' }),
  policy: choice('a policy', ['cancel', 'dead'], 'P'),
  command: text('TEXT', 'shell text', { short: 'c' }),
} satisfies Flags;

test('flags in every way of writing them', () => {
  const { flags, words, rest } = parseArgs(FLAGS, [
    'one',
    '--queue=build',
    '--retry-delay',
    '1m30s',
    '--priority',
    '-5',
    '--tag',
    'a=1',
    '--tag=b=2=3',
    '-f',
    '-c',
    'echo --lane',
    '--policy=dead',
    '-',
    'two',
    '--',
    '--lane',
    '--',
    '',
  ]);
  assert.deepEqual(flags, {
    lane: 'build',
    retryDelay: 90_000,
    priority: -5,
    tag: [
      ['a', '1'],
      ['b', '2=3'],
    ],
    follow: true,
    policy: 'dead',
    command: 'echo --lane',
  });
  assert.deepEqual(words, ['one', '-', 'two']);
  assert.deepEqual(rest, ['--lane', '--', '']);
});

test('flags that are not given, and -- alone', () => {
  const none = parseArgs(FLAGS, []);
  assert.deepEqual(none.flags, {
    lane: null,
    retryDelay: null,
    priority: null,
    tag: [],
    follow: false,
    policy: null,
    command: null,
  });
  assert.equal(none.rest, null);
  assert.deepEqual(parseArgs(FLAGS, ['--']).rest, []);
  assert.equal(parseArgs(FLAGS, ['--lane=']).flags.lane, '');
  assert.equal(parseArgs(FLAGS, ['--lane', 'a', '--lane', 'b']).flags.lane, 'b');
});

test('what is wrong is named, with a way out', () => {
  const cases: [string[], RegExp, RegExp?][] = [
    [['--lnae', 'x'], /Unknown flag --lnae/, /Did you mean --lane\?/],
    [['--zzzzzz'], /Unknown flag --zzzzzz/, /before --/],
    [['-x'], /Unknown flag -x/],
    [[`--${'x'.repeat(1000)}`], /^Unknown flag --x{57}…$/],
    [['--lane'], /--lane needs a value \(NAME\)/, /--lane=NAME/],
    [['--lane', '--'], /--lane needs a value/],
    [['--lane', '--follow'], /--lane needs a value/],
    [['--follow=yes'], /--follow takes no value/],
    [['--priority', '11'], /--priority: "11" is no whole number from -10 to 10/],
    [['--priority', '1e1'], /--priority/],
    [['--priority', ''], /--priority/],
    [['--retry-delay', 'soon'], /--retry-delay: .*"soon"/],
    [['--policy', 'canecl'], /--policy: "canecl" is none of cancel, dead/, /cancel/],
    [['--tag', 'novalue'], /--tag: "novalue" is not NAME=VALUE/],
    [['--tag', '=v'], /--tag/],
    [['--\u001b[31m'], /Unknown flag --\\e\[31m/],
  ];
  for (const [args, message, hint] of cases) {
    assert.throws(
      () => parseArgs(FLAGS, args),
      (error: unknown) =>
        error instanceof LanewayError &&
        error.code === 'INVALID_INPUT' &&
        message.test(error.message) &&
        (hint === undefined || hint.test(error.hint ?? '')),
      args.join(' '),
    );
  }
});

const CONTEXT = { cwd: '/base', now: () => Date.parse('2031-05-04T00:00:00.000Z') };
const flagsOf = (...args: string[]): JobFlags => parseArgs(JOB_FLAGS, args).flags;

test('a job by flags', () => {
  const given =
    '--queue build --priority 3 --after 5m --timeout 1h --retries 2 --crashes 0 --retry-delay 1 --retry-max-delay 10s --grace 3s --cwd sub --env A=1 --env B= --label L --tag k=v --key K --needs 1,2 --needs 3,last --needs label:a --on-need-failure release --split';
  const parsed = parseArgs(JOB_FLAGS, [...given.split(' '), '--', 'make', '-j4', '']);
  assert.deepEqual(requestOf(parsed, CONTEXT), {
    argv: ['make', '-j4', ''],
    cwd: '/base/sub',
    lane: 'build',
    priority: 3,
    afterMs: 300_000,
    timeoutMs: 3_600_000,
    maxRetries: 2,
    maxCrashes: 0,
    retryDelayMs: 1000,
    retryMaxDelayMs: 10_000,
    cancelGraceMs: 3000,
    env: { A: '1', B: '' },
    label: 'L',
    tags: { k: 'v' },
    key: 'K',
    needs: [1, 2, 3, 'last', 'label:a'],
    onNeedFailure: 'release',
    split: true,
  });
  assert.equal(commonRequest(flagsOf('--at', '2031-05-04T10:00:00Z'), CONTEXT).at, '2031-05-04T10:00:00.000Z');
});

test('a batch means the same as flags, line by line, over their defaults', () => {
  const jobs = parseBatch(
    [
      '{"argv":["a",""],"lane":"x","retryDelay":"5s","timeout":90,"env":{"B":"2"},"tag":["k=v"],"split":true}',
      '{"command":"b | c","queue":"y","after":"1s","needs":[7,{"line":1},"8,9"],"tags":{"t":""},"priority":-2}\r',
      '{"argv":["d"],"key":"k1","label":null,"onNeedFailure":"dead"}',
    ].join('\n') + '\n\n',
    flagsOf('--lane', 'default-lane', '--env', 'A=1', '--at', '2031-05-04T10:00:00Z'),
    CONTEXT,
  );
  const at = '2031-05-04T10:00:00.000Z';
  assert.deepEqual(jobs, [
    {
      argv: ['a', ''],
      cwd: '/base',
      lane: 'x',
      at,
      retryDelayMs: 5000,
      timeoutMs: 90_000,
      env: { A: '1', B: '2' },
      tags: { k: 'v' },
      split: true,
    },
    {
      command: 'b | c',
      cwd: '/base',
      lane: 'y',
      afterMs: 1000,
      env: { A: '1' },
      tags: { t: '' },
      priority: -2,
      needs: [7, { line: 1 }, 8, 9],
    },
    { argv: ['d'], cwd: '/base', lane: 'default-lane', at, env: { A: '1' }, key: 'k1', onNeedFailure: 'dead' },
  ]);
});

test('blank lines are no jobs, but count as lines', () => {
  const text = '\n{"argv":["a"]}\n \n{"argv":["b"],"needs":[{"line":2}]}\n';
  assert.deepEqual(
    parseBatch(text, flagsOf(), CONTEXT).map(({ needs }) => needs),
    [undefined, [{ line: 1 }]],
  );
  const refused = ofLine(new LanewayError('INVALID_INPUT', 'line 2: cwd is gone', null), { jobs: [], lines: [2, 4] });
  assert.equal((refused as LanewayError).message, 'line 4: cwd is gone');
});

test('a bad line is refused with its number', () => {
  const good = '{"argv":["true"]}';
  const cases: [string, RegExp][] = [
    [`${good}\nnope`, /^Line 2: not JSON/],
    [`${good}\n\nnope`, /^Line 3: not JSON/],
    [`${good}\n\n{"argv":["b"],"needs":{"line":2}}`, /^Line 3: needs: line 2 holds no job/],
    [`${good}\n{"argv":["b"],"needs":{"line":2}}`, /^Line 2: needs: line 2 is no earlier line/],
    [' \n', /holds no job/],
    ['[1]', /^Line 1: .* is no object/],
    ['{"argv":[]}', /^Line 1: "argv"/],
    ['{"argv":["a",1]}', /^Line 1: "argv"/],
    ['{}', /neither "argv" nor "command"/],
    ['{"argv":["a"],"command":"b"}', /both "argv" and "command"/],
    ['{"argv":["a"],"lnae":"x"}', /unknown field "lnae"/],
    ['{"argv":["a"],"cleanEnv":true}', /unknown field "cleanEnv"/],
    ['{"argv":["a"],"retries":"many"}', /"retries": "many" is no whole number/],
    ['{"argv":["a"],"lane":5}', /"lane"/],
    ['{"argv":["a"],"split":1}', /"split" 1 is neither true nor false/],
    ['{"argv":["a"],"env":{"A":1}}', /"env"/],
    ['{"argv":["a"],"needs":[true]}', /"needs" true is no job/],
    ['{"argv":["a"],"after":"1s","at":"10:00"}', /exclude each other/],
    ['', /holds no job/],
  ];
  for (const [batch, message] of cases) {
    assert.throws(
      () => parseBatch(batch, flagsOf(), CONTEXT),
      (error: unknown) =>
        error instanceof LanewayError && error.code === 'INVALID_INPUT' && message.test(error.message),
      batch,
    );
  }
  assert.throws(() => parseBatch(good, flagsOf('--key', 'k'), CONTEXT), /--key names one job/);
});

test('colour: NO_COLOR, then FORCE_COLOR, then the terminal', () => {
  const cases: [Record<string, string>, boolean, boolean][] = [
    [{}, true, true],
    [{}, false, false],
    [{ TERM: 'dumb' }, true, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '' }, true, true],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
  ];
  for (const [env, isTty, expected] of cases) assert.equal(wantsColour(env, isTty), expected, JSON.stringify(env));
});

const JOB = {
  id: 7,
  lane: 'build',
  label: null,
  state: 'queued',
  phase: 'ready',
  waitReason: null,
  attempts: 0,
} as Job;

test('what progress says', () => {
  const cases: [Partial<Job>, number | null, string][] = [
    [{ waitReason: 'lane full' }, 3, 'Job 7 waits in lane build, place 3: lane full'],
    [
      { waitReason: 'due at 2031-05-04T12:00:00.250Z' },
      null,
      `Job 7 waits in lane build: due at ${sayTime('2031-05-04T12:00:00.250Z')}`,
    ],
    [{ state: 'running', attempts: 1, label: 'a\u001bb' }, null, 'Job 7 (a\\eb) runs'],
    [{ state: 'running', attempts: 2 }, null, 'Job 7 runs, attempt 2'],
    [{ state: 'running', cancelRequested: true }, null, 'Job 7 is being stopped'],
  ];
  for (const [job, place, expected] of cases) assert.equal(progressText([{ ...JOB, ...job }], 1, place), expected);
  assert.equal(
    progressText([JOB, { ...JOB, state: 'running' }, { ...JOB, state: 'done' }], 3, null),
    '1 of 3 jobs ended, 1 running, 1 waiting',
  );
});

test('the status of lane run', () => {
  const cases: [Partial<Job>, number][] = [
    [{ state: 'done' }, 0],
    [{ state: 'dead', failureReason: 'process_exit', exitCode: 42, signal: null }, 42],
    [{ state: 'dead', failureReason: 'process_exit', exitCode: null, signal: 'SIGKILL' }, 137],
    [{ state: 'dead', failureReason: 'timeout' }, 124],
    [{ state: 'dead', failureReason: 'spawn_failed' }, 127],
    [{ state: 'canceled', failureReason: 'canceled' }, 130],
    [{ state: 'canceled', failureReason: 'dependency' }, 130],
    [{ state: 'dead', failureReason: 'dependency' }, 125],
    [{ state: 'dead', failureReason: 'worker_crash' }, 125],
    [{ state: 'dead', failureReason: 'log_limit' }, 125],
  ];
  for (const [job, expected] of cases) {
    assert.equal(statusOf({ ...JOB, ...job }, { note: () => undefined }), expected, JSON.stringify(job));
  }
});
