/** What an attempt's end means for its job: the pure decision, case by case. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoff, decideEnd, decideReaped, type Standing } from '../../server/store/transitions/ending.ts';
import type { AttemptEnd } from '../../server/store/api.ts';
import { end } from './support.ts';

const FRESH: Standing = {
  failures: 0,
  crashes: 0,
  maxRetries: 2,
  maxCrashes: 2,
  retryDelayMs: 2000,
  retryMaxDelayMs: 60_000,
  cancelRequested: false,
  retryForced: false,
  sleep: null,
};
const asked = { cancelRequested: true };
const forced = { cancelRequested: true, retryForced: true };
const sleep = { sleep: { name: 'nap', until: 99 } };
const failedOnce = { kind: 'exited', exitCode: 1 } as const;
const termed = { kind: 'stopped', exitCode: null, signal: 'SIGTERM', signalled: true } as const;

/** Attempt state, its reason, what becomes of the job. */
const CASES: [string, Partial<Standing>, Partial<AttemptEnd>, [string, string | null, string]][] = [
  ['exit 0', {}, {}, ['succeeded', null, 'done']],
  ['exit 1 with retries left', {}, failedOnce, ['failed', 'process_exit', 'backoff']],
  ['exit 1 with none left', { failures: 2 }, failedOnce, ['failed', 'process_exit', 'dead']],
  ['a signal', {}, { exitCode: null, signal: 'SIGKILL' }, ['failed', 'process_exit', 'backoff']],
  ['time-out', {}, { kind: 'timed_out', exitCode: null, signal: 'SIGTERM' }, ['timed_out', 'timeout', 'backoff']],
  ['exit 0 after its time-out', {}, { kind: 'timed_out', signalled: true }, ['timed_out', 'timeout', 'backoff']],
  ['too much output', { failures: 2 }, { kind: 'log_limit', exitCode: null }, ['failed', 'log_limit', 'dead']],
  ['no such program', { maxRetries: 0 }, { kind: 'spawn_failed', exitCode: null }, ['failed', 'spawn_failed', 'dead']],
  [
    'no process left',
    { failures: 2 },
    { kind: 'machine_trouble', exitCode: null },
    ['abandoned', 'spawn_failed', 'backoff'],
  ],
  ['its worker is stopped', { failures: 2 }, termed, ['abandoned', null, 'again']],
  ['its worker is stopped, it was done already', {}, { kind: 'stopped' }, ['succeeded', null, 'done']],
  ['cancelled by a signal', asked, termed, ['canceled', 'canceled', 'canceled']],
  [
    'cancelled, exit 0 by its TERM trap',
    asked,
    { kind: 'stopped', signalled: true },
    ['canceled', 'canceled', 'canceled'],
  ],
  ['cancelled, exit 0 before any signal', asked, {}, ['succeeded', null, 'done']],
  ['cancelled, but it failed first', asked, failedOnce, ['canceled', 'canceled', 'canceled']],
  [
    'cancelled while the machine could not start it',
    asked,
    { kind: 'machine_trouble' },
    ['canceled', 'canceled', 'canceled'],
  ],
  ['forced retry', forced, termed, ['canceled', 'canceled', 'forced']],
  ['forced retry, exit 0 before any signal', forced, {}, ['succeeded', null, 'done']],
  ['asleep', sleep, { exitCode: 75 }, ['succeeded', null, 'asleep']],
  ['exit 0 after a recorded sleep', sleep, {}, ['succeeded', null, 'done']],
  ['timed out after a recorded sleep', sleep, { kind: 'timed_out', exitCode: 75 }, ['timed_out', 'timeout', 'backoff']],
  ['cancelled after a recorded sleep', { ...sleep, ...asked }, { exitCode: 75 }, ['canceled', 'canceled', 'canceled']],
];

for (const [name, standing, how, expected] of CASES) {
  test(name, () => {
    const { attempt, next } = decideEnd({ ...FRESH, ...standing }, end(how));
    assert.deepEqual([attempt.state, attempt.reason, next.to], expected);
    if (next.to === 'asleep') assert.equal(attempt.exitCode, null);
    if (attempt.reason === 'spawn_failed' && next.to === 'backoff') assert.equal(next.failures, standing.failures);
  });
}

test('a gone worker costs a crash, never a retry, and a request to cancel outlives it', () => {
  const spent = decideReaped({ ...FRESH, failures: 1, crashes: 1 }).next;
  assert.deepEqual(spent, { to: 'backoff', because: 'crash', delayMs: 4000, failures: 1, crashes: 2 });
  assert.deepEqual(decideReaped({ ...FRESH, crashes: 2 }).next, {
    to: 'dead',
    reason: 'worker_crash',
    failures: 0,
    crashes: 3,
  });
  assert.equal(decideReaped({ ...FRESH, ...asked }).next.to, 'canceled');
  assert.equal(decideReaped({ ...FRESH, ...forced }).next.to, 'forced');
  assert.equal(decideReaped({ ...FRESH, ...sleep }).attempt.state, 'abandoned');
});

test('the backoff doubles up to its cap, and does not overflow', () => {
  assert.deepEqual(
    [1, 2, 3, 5, 6, 1000, 1_000_000].map((n) => backoff(2000, 60_000, n)),
    [2000, 4000, 8000, 32_000, 60_000, 60_000, 60_000],
  );
  assert.equal(backoff(90_000, 60_000, 1), 60_000);
});
