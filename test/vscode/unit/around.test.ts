/** Settings, runtime, notifications, status bar and failures, decided without an editor. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  changedSince,
  defaultLane,
  laneSettings,
  notifications,
  queueSettings,
  type Settings,
} from '../../../client/vscode/config.ts';
import { foldEndings, settle, worthAsking } from '../../../client/vscode/messages/endings.ts';
import { aimed, failureText, Guided, nextSteps } from '../../../client/vscode/messages/failure.ts';
import { glance, stillSeen } from '../../../client/vscode/views/glance.ts';
import { withoutIcons, withoutLinks } from '../../../client/vscode/messages/plainText.ts';
import { toErrorData } from '../../../shared/errors.ts';
import type { LaneSettings } from '../../../shared/job.ts';
import { callerEnv, runtimeEnv } from '../../../client/vscode/runtime.ts';
import { shim } from '../../../client/vscode/terminal/shim.ts';
import { counts, job } from './fixtures.ts';

const settings =
  (values: Record<string, unknown>): Settings =>
  (name) =>
    values[name];

describe('settings', () => {
  it('become what the queue keeps, and only what was set', () => {
    assert.deepEqual(queueSettings(settings({})), {});
    const set = {
      maxConcurrency: 0,
      'retention.days': 2,
      'retention.maxLogMiB': 1,
      logLimitMiB: 2,
      serverIdleMinutes: 0.5,
    };
    assert.deepEqual(queueSettings(settings(set)), {
      concurrency: null,
      retentionMs: 172_800_000,
      retentionBytes: 1_048_576,
      logLimit: 2_097_152,
      serverIdleMs: 30_000,
    });
    assert.deepEqual(queueSettings(settings({ maxConcurrency: -1, 'retention.days': 'x', logLimitMiB: 0 })), {});
  });
  it('write what changed, so that another change undoes nothing, and what is taken out goes back', () => {
    const before = { queue: { concurrency: 3, retentionMs: 5 }, lanes: new Map([['a', { slots: 2, timeoutMs: 9 }]]) };
    const usual = { concurrency: null, retentionMs: 30 };
    assert.deepEqual(changedSince(before, before, usual), { queue: {}, lanes: new Map() });
    const more = new Map<string, LaneSettings>([...before.lanes, ['b', { pauseOnFailure: true }]]);
    assert.deepEqual(changedSince(before, { queue: { ...before.queue, concurrency: 4 }, lanes: more }, usual), {
      queue: { concurrency: 4 },
      lanes: new Map([['b', { pauseOnFailure: true }]]),
    });
    assert.deepEqual(changedSince(before, { queue: {}, lanes: new Map([['a', { slots: 2 }]]) }, usual), {
      queue: usual,
      lanes: new Map([['a', { timeoutMs: null }]]),
    });
  });
  it('set lanes, and name what cannot be understood', () => {
    const value = {
      web: { slots: 2, timeout: '5m', retries: 1, pauseOnFailure: true },
      '-x': {},
      a: { slots: 0 },
      b: 3,
      c: { timeout: null },
      d: { grace: '3s', retryDelay: 1, retryMaxDelay: '1m', colour: 'red' },
    };
    const { lanes, problems } = laneSettings(settings({ lanes: value }));
    assert.deepEqual(lanes.get('web'), { slots: 2, timeoutMs: 300_000, maxRetries: 1, pauseOnFailure: true });
    assert.deepEqual(lanes.get('a'), {});
    assert.deepEqual(lanes.get('c'), { timeoutMs: null });
    assert.deepEqual(lanes.get('d'), { cancelGraceMs: 3000, retryDelayMs: 1000, retryMaxDelayMs: 60_000 });
    assert.equal(problems.length, 4);
    assert.match(problems.join('\n'), /-x[^]*a\.slots[^]*b must be[^]*d knows no "colour"/);
    assert.equal(laneSettings(settings({ lanes: [] })).problems.length, 1);
  });
  it('fall back to the defaults', () => {
    assert.equal(defaultLane(settings({ defaultLane: '../x' })), 'default');
    assert.equal(notifications(settings({ notifications: 'loud' })), 'failures');
  });
});

describe('the runtime', () => {
  const electron = { execPath: '/app/code', node: '22.15.1', electron: true };
  it('is Electron told to be Node, without the editor’s own environment', () => {
    const env = {
      PATH: '/bin',
      VSCODE_PID: '1',
      ELECTRON_X: '1',
      NODE_OPTIONS: '--require /x/ms-vscode.js-debug/b.js --max-old-space-size=9',
    };
    assert.deepEqual(runtimeEnv(electron, env), {
      PATH: '/bin',
      NODE_OPTIONS: '--max-old-space-size=9',
      ELECTRON_RUN_AS_NODE: '1',
    });
    assert.equal(runtimeEnv({ ...electron, electron: false }, env)['ELECTRON_RUN_AS_NODE'], undefined);
  });
  it('is refused with a reason when the database driver would crash on it', () => {
    assert.throws(() => runtimeEnv({ ...electron, node: '20.19.0' }, {}), /Node 20\.19\.0.*needs 22/);
  });
  it('keeps the editor’s internals from jobs, and what is the person’s own in', () => {
    const git = '/app/extensions/git/dist/askpass.sh';
    const env = {
      HOME: '/h',
      VSCODE_GIT_IPC_HANDLE: 'x',
      GIT_ASKPASS: git,
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '-r ms-vscode.x',
    };
    assert.deepEqual(callerEnv(env), { HOME: '/h' });
    assert.deepEqual(callerEnv({ GIT_ASKPASS: '/my/askpass' }), { GIT_ASKPASS: '/my/askpass' });
  });
  it('runs the command line on itself, whatever the paths hold', () => {
    const { name, text } = shim({ ...electron, execPath: "/a b/it's" }, '/x y/$cli.js', 'linux');
    assert.equal(name, 'lane');
    assert.match(text, /^#!\/bin\/sh\n[^]*ELECTRON_RUN_AS_NODE=1 exec '\/a b\/it'\\''s' '\/x y\/\$cli\.js' "\$@"\n$/);
    assert.match(shim(electron, 'C:\\x\\cli.js', 'win32').text, /"C:\\x\\cli\.js" %\*/);
  });
});

describe('endings of this window’s jobs', () => {
  const dead = (id: number) => job(id, { state: 'dead', attempts: 1, exitCode: 2, failureReason: 'process_exit' });
  it('are looked for only when the counts say so', () => {
    const before = counts({ dead: 1, done: 1 });
    assert.equal(worthAsking(before, counts({ dead: 1, done: 9 }), 'failures'), false);
    assert.equal(worthAsking(before, counts({ dead: 2 }), 'failures'), true);
    assert.equal(worthAsking(before, counts({ dead: 1, done: 2 }), 'all'), true);
    assert.equal(worthAsking(before, counts({ dead: 9 }), 'none'), false);
  });
  it('are told by the setting, and followed no longer', () => {
    const jobs = [dead(1), job(2, { state: 'done' }), job(3), job(4, { state: 'canceled' })];
    assert.deepEqual(
      settle(jobs, 'failures').told.map(({ id }) => id),
      [1],
    );
    assert.deepEqual(
      settle(jobs, 'all').told.map(({ id }) => id),
      [1, 2],
    );
    assert.deepEqual(
      settle(jobs, 'none').ended.map(({ id }) => id),
      [1, 2, 4],
    );
  });
  it('are one message with a next step, however many there are', () => {
    const handle = (one: { id: number }): unknown => one.id;
    assert.equal(foldEndings([], handle), null);
    const single = foldEndings([dead(1)], handle);
    assert.equal(single?.text, '#1 npm test failed: exit 2.');
    assert.deepEqual(
      single?.steps.map(({ title }) => title),
      ['Show Log', 'Retry'],
    );
    assert.equal(
      foldEndings([dead(1)], handle, 'the folder /gone does not exist')?.text,
      '#1 npm test failed: the folder /gone does not exist.',
    );
    const many = foldEndings([1, 2, 3, 4, 5].map(dead).concat(job(6, { state: 'done' })), handle);
    assert.equal(many?.text, '5 jobs failed: #1 npm test, #2 npm test, #3 npm test and 2 more. 1 other succeeded.');
    assert.deepEqual(many?.steps.at(-1)?.arguments, [1, [1, 2, 3, 4, 5]]);
  });
});

describe('the status bar and the badge', () => {
  it('count running, waiting, and deaths nobody saw', () => {
    const now = glance([{ counts: counts({ running: 2, queued: 4, blocked: 1, dead: 3 }), seenDead: 3 }]);
    assert.equal(now.text, '$(sync~spin) 2 · 5 waiting');
    assert.equal(now.badge?.value, 2);
    assert.equal(now.alarming, false);
    const after = glance([
      { counts: counts({ running: 1, dead: 4 }), seenDead: 3 },
      { counts: counts({ running: 1 }), seenDead: 0 },
    ]);
    assert.equal(after.text, '$(sync~spin) 2 · $(error) 1');
    assert.equal(after.badge?.value, 3);
    assert.equal(after.alarming, true);
  });
  it('say nothing without a connection, and little when idle', () => {
    assert.equal(glance([]).text, null);
    assert.equal(glance([{ counts: counts(), seenDead: 0 }]).badge, null);
  });
  it('notice a new death after an old one was retried', () => {
    const seen = stillSeen(3, counts({ dead: 2 }));
    assert.equal(glance([{ counts: counts({ dead: 3 }), seenDead: seen }]).alarming, true);
  });
});

describe('failures', () => {
  it('say what happened and what to do, as sentences', () => {
    const data = { code: 'CONFLICT' as const, message: 'job 3 is done', hint: 'rerun it' };
    assert.equal(failureText('retry the job', data), 'Laneway could not retry the job: job 3 is done. Rerun it.');
    const both = { ...data, hint: 'Its log: /x/server.log. With --direct the command works without a server.' };
    assert.match(failureText('retry the job', both), /is done\. Its log: \/x\/server\.log\.$/);
    assert.equal(nextSteps('ENVIRONMENT')[0]?.command, 'laneway.restartServer');
  });
  it('have buttons about the folder that failed, and about nothing else', () => {
    const target = { queue: 'q' };
    assert.deepEqual(
      aimed(nextSteps('ENVIRONMENT'), target).map((step) => step.arguments),
      [[target], [target]],
    );
    assert.equal(aimed(nextSteps('NOT_FOUND'), target)[0]?.arguments, undefined);
    assert.equal(aimed(nextSteps('ENVIRONMENT'), undefined)[0]?.arguments, undefined);
    assert.equal(toErrorData(new Guided('REFUSED', 'm', null, [])).code, 'REFUSED');
  });
});

describe('text from a project', () => {
  it('is no icon in pickers and the status bar', () => {
    assert.equal(withoutIcons('echo $(date) $(sync~spin)'), 'echo \\$(date) \\$(sync~spin)');
    assert.equal(withoutIcons('echo $(ls -l) $HOME'), 'echo $(ls -l) $HOME', 'only what would become an icon');
  });
  it('is no link in notifications, which would run commands', () => {
    // The pattern by which the editor finds links in a notification.
    const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
    for (const text of ['[Mend](command:workbench.action.quit)', '[a](https://x.test "t")', '[a[b](file:///etc)']) {
      assert.match(text, link);
      assert.doesNotMatch(withoutLinks(text), link);
    }
  });
});
