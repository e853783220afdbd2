/** Decisions of a worker that need no process: endings, failed starts, named instants, timers, claims. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustClearGroup, outcome } from '../../server/run/outcome.ts';
import type { Stop } from '../../server/run/outcome.ts';
import { POINTS, parsePoints } from '../../server/run/points.ts';
import { createScheduler } from '../../server/run/scheduler.ts';
import { explainSpawnFailure } from '../../server/run/spawnFailure.ts';
import type { SpawnFacts } from '../../server/run/spawnFailure.ts';
import { atTick } from '../../server/run/timer.ts';
import { createTrouble } from '../../server/run/trouble.ts';
import type { Claimed } from '../../server/store/api.ts';

test('how an attempt ended', () => {
  const sizes = { stdoutBytes: 5, stderrBytes: 5 };
  const exits = {
    ok: { code: 0, signal: null },
    failed: { code: 3, signal: null },
    killed: { code: null, signal: 'SIGKILL' },
  };
  const cancel: Stop = { reason: 'cancel' };
  const timeout: Stop = { reason: 'timeout', timeoutMs: 90_000 };
  const cases = [
    [exits.ok, null, false, 'exited', null],
    [exits.failed, null, false, 'exited', null],
    // Asked, but it had ended by itself before any signal.
    [exits.ok, cancel, false, 'exited', null],
    [exits.failed, timeout, false, 'exited', null],
    [exits.ok, cancel, true, 'exited', null],
    [exits.killed, timeout, true, 'timed_out', /timeout of 1m30s/],
    [exits.ok, timeout, true, 'timed_out', /timeout/],
    [exits.killed, { reason: 'log_limit', limit: 77 }, true, 'log_limit', /77 bytes/],
    [exits.killed, { reason: 'stop' }, true, 'stopped', /told to stop/],
  ] as const;
  for (const [exit, stop, signalled, kind, error] of cases) {
    const end = outcome(exit, stop, signalled, sizes);
    assert.equal(end.kind, kind);
    if (error === null) assert.equal(end.error, null);
    else assert.match(end.error ?? '', error);
    assert.deepEqual(
      [end.exitCode, end.signal, end.signalled, end.stdoutBytes],
      [exit.code, exit.signal, signalled, 5],
    );
  }
  assert.deepEqual(
    [mustClearGroup(exits.ok), mustClearGroup(exits.failed), mustClearGroup(exits.killed)],
    [false, true, true],
  );
});

test('failed starts: whose fault, and in which words', () => {
  const facts: SpawnFacts = {
    program: './x',
    cwd: '/w',
    cwdState: 'folder',
    found: { kind: 'runnable', interpreter: null },
  };
  const cases: [string | undefined, Partial<SpawnFacts>, 'spawn_failed' | 'machine_trouble', RegExp][] = [
    ['ENOENT', { found: { kind: 'missing' } }, 'spawn_failed', /no such program: \.\/x/],
    ['ENOENT', { program: 'x', found: { kind: 'missing' } }, 'spawn_failed', /"x" on its PATH/],
    ['ENOENT', { cwdState: 'missing' }, 'spawn_failed', /directory does not exist: \/w/],
    ['ENOTDIR', { cwdState: 'not_a_folder' }, 'spawn_failed', /is not a folder: \/w/],
    ['EACCES', { cwdState: 'not_enterable' }, 'spawn_failed', /may not be entered/],
    ['EACCES', { found: { kind: 'not_executable' } }, 'spawn_failed', /not executable.*chmod/],
    ['EACCES', { found: { kind: 'folder' } }, 'spawn_failed', /a folder, not a program/],
    ['ENOENT', { found: { kind: 'runnable', interpreter: '/bin/nope' } }, 'spawn_failed', /interpreter.*\/bin\/nope/],
    ['ENOEXEC', {}, 'spawn_failed', /could not be started: the words of the system/],
    [undefined, {}, 'spawn_failed', /could not be started/],
    ['E2BIG', {}, 'spawn_failed', /too large/],
    ...['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC', 'EIO'].map(
      (code) => [code, { cwdState: 'missing' }, 'machine_trouble', new RegExp(code)] as (typeof cases)[number],
    ),
  ];
  for (const [code, some, kind, words] of cases) {
    const failure = explainSpawnFailure(code, 'the words of the system', { ...facts, ...some });
    assert.equal(failure.kind, kind, code);
    assert.match(failure.error, words);
  }
});

test('named instants act once, at their turn, and are refused when unknown', () => {
  const sent: string[] = [];
  const point = parsePoints('spawn:after#2=kill, claim:before=pause', (signal) => sent.push(signal));
  for (const name of POINTS) point(name);
  assert.deepEqual(sent, ['SIGSTOP']);
  for (const name of POINTS) point(name);
  for (const name of POINTS) point(name);
  assert.deepEqual(sent, ['SIGSTOP', 'SIGKILL']);
  assert.throws(() => parsePoints('spawn:sideways=kill', () => undefined), /names no point/);
  assert.throws(() => parsePoints('spawn:after=dance', () => undefined), /names no point/);
  parsePoints(undefined, () => assert.fail())('claim:before');
});

test('a timer longer than the runtime can hold is armed anew, and can be called off', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let ticks = 0;
  const clock = { now: () => 0, ticks: () => ticks };
  const day = 86_400_000;
  let fired = 0;
  atTick(clock, 60 * day, () => (fired += 1));
  const off = atTick(clock, 60 * day, () => assert.fail());
  for (let passed = 0; passed < 60; passed += 1) {
    assert.equal(fired, 0, `after ${passed} days`);
    if (passed === 30) off();
    ticks += day;
    t.mock.timers.tick(day);
  }
  assert.equal(fired, 1);
});

const job = (jobId: number) => ({ jobId }) as Claimed;

test('claims: in the tick of the wake, one at a time, as many as are free, again when woken meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: number[] = [];
  const ran: number[] = [];
  const answers: ((claimed: Claimed[]) => void)[] = [];
  let free = 2;
  let due: number | null = null;
  let dry = 0;
  const clock = { now: () => 1000, ticks: () => 0 };
  const scheduler = createScheduler({
    clock,
    free: () => free,
    claim: (limit) => {
      asked.push(limit);
      return new Promise((resolve) => answers.push(resolve));
    },
    run: ({ jobId }) => {
      ran.push(jobId);
      free -= 1;
    },
    nextDue: () => due,
    onDry: () => (dry += 1),
    onError: () => assert.fail(),
  });
  const answer = async (...ids: number[]) => {
    answers.shift()?.(ids.map(job));
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  scheduler.wake();
  assert.deepEqual(asked, [2], 'within the same tick');
  scheduler.wake();
  assert.equal(asked.length, 1);
  await answer(1);
  assert.deepEqual([ran, asked], [[1], [2, 1]], 'once more, for the slot that is left');
  due = 1000 + 50;
  await answer();
  assert.equal(dry, 1);
  t.mock.timers.tick(49);
  assert.equal(asked.length, 2);
  clock.now = () => 1050;
  t.mock.timers.tick(1);
  assert.deepEqual(asked, [2, 1, 1], 'the due time came');
  await answer(2);
  scheduler.wake();
  assert.equal(asked.length, 3, 'no slot is free');
  free = 1;
  scheduler.wake();
  const closing = scheduler.close();
  await answer(3);
  await closing;
  assert.deepEqual(ran, [1, 2, 3], 'what was claimed at the close is run');
  scheduler.wake();
  assert.equal(asked.length, 4);
});

test('trouble is told once, probed with growing pauses, and over when a probe works', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const told: (string | null)[] = [];
  let works = false;
  let probes = 0;
  const trouble = createTrouble({
    probe: () => {
      probes += 1;
      return works ? Promise.resolve(true) : Promise.reject(new Error('still'));
    },
    onChange: (text) => told.push(text),
    firstProbeMs: 10,
    longestProbeMs: 30,
  });
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
  };
  trouble.report('full');
  trouble.report('full');
  await pass(10);
  await pass(19);
  assert.equal(probes, 1);
  await pass(1);
  assert.equal(probes, 2);
  await pass(30);
  assert.equal(probes, 3);
  trouble.report('fuller');
  works = true;
  await pass(30);
  assert.deepEqual([told, trouble.current()], [['full', 'fuller', null], null]);
  await pass(1000);
  assert.equal(probes, 4);
});
