/** What the trees show of jobs, lanes, attempts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Job } from '../../../shared/job.ts';
import { describe as describeNode, jobStatus, jobWords } from '../../../client/vscode/views/describe.ts';
import type { Node } from '../../../client/vscode/views/nodes.ts';
import { groupCount, groupOf, GROUPS } from '../../../client/vscode/views/groups.ts';
import { commandText, jobTitle } from '../../../client/vscode/views/title.ts';
import { ago, attempt, counts, job, lane, NOW, queue } from './fixtures.ts';

const ran = { attempts: 1, startedAt: ago(70_000), finishedAt: ago(60_000) };

describe('a job in the tree', () => {
  const cases: { what: string; job: Job; status: string; words: string; group: string; icon: string }[] = [
    {
      what: 'runs',
      job: job(1, { state: 'running', attempts: 1, startedAt: ago(12_400) }),
      status: '12 s',
      words: 'job cancelable hasLog',
      group: 'running',
      icon: 'sync~spin',
    },
    {
      what: 'runs again',
      job: job(1, { state: 'running', attempts: 2, maxRetries: 2, startedAt: ago(1000) }),
      status: '1 s · attempt 2 of 3',
      words: 'job cancelable hasLog',
      group: 'running',
      icon: 'sync~spin',
    },
    {
      what: 'is being stopped',
      job: job(1, { state: 'running', attempts: 1, startedAt: ago(3000), cancelRequested: true }),
      status: 'stopping · 3 s',
      words: 'job hasLog',
      group: 'running',
      icon: 'stop-circle',
    },
    {
      what: 'waits for a slot',
      job: job(1, { waitReason: 'lane full (1 of 1 running)' }),
      status: 'lane full (1 of 1 running) · waiting 1 m',
      words: 'job cancelable bumpable',
      group: 'queued',
      icon: 'circle-outline',
    },
    {
      what: 'is blocked, and says by what',
      job: job(1, { state: 'blocked', needs: [12, 14], waitReason: 'needs 12 and 14' }),
      status: 'needs 12 and 14 · waiting 1 m',
      words: 'job cancelable bumpable',
      group: 'blocked',
      icon: 'lock',
    },
    {
      what: 'is scheduled',
      job: job(1, { phase: 'scheduled', nextRunAt: ago(-7_200_000) }),
      status: 'in 2 h',
      words: 'job cancelable bumpable',
      group: 'scheduled',
      icon: 'watch',
    },
    {
      what: 'retries',
      job: job(1, {
        phase: 'retrying',
        nextRunAt: ago(-4000),
        attempts: 1,
        exitCode: 2,
        failureReason: 'process_exit',
      }),
      status: 'retrying after exit 2 · in 4 s',
      words: 'job cancelable retryable bumpable hasLog',
      group: 'scheduled',
      icon: 'watch',
    },
    {
      what: 'succeeded',
      job: job(1, { state: 'done', exitCode: 0, ...ran }),
      status: '10 s · 1 m ago',
      words: 'job rerunnable hasLog',
      group: 'done',
      icon: 'pass',
    },
    {
      what: 'died by a signal',
      job: job(1, { state: 'dead', signal: 'SIGKILL', failureReason: 'process_exit', ...ran, attempts: 3 }),
      status: 'SIGKILL · 10 s · 3 attempts · 1 m ago',
      words: 'job retryable rerunnable hasLog',
      group: 'dead',
      icon: 'error',
    },
    {
      what: 'was settled by a prerequisite',
      job: job(1, { state: 'canceled', failureReason: 'dependency', finishedAt: ago(60_000) }),
      status: 'a prerequisite did not succeed · 1 m ago',
      words: 'job rerunnable',
      group: 'canceled',
      icon: 'circle-slash',
    },
  ];
  for (const expected of cases) {
    it(expected.what, () => {
      assert.equal(jobStatus(expected.job, NOW), expected.status);
      assert.equal(jobWords(expected.job).join(' '), expected.words);
      assert.equal(groupOf(expected.job), expected.group);
      const shown = describeNode({ kind: 'job', id: 'j', queue, job: expected.job }, NOW);
      assert.equal(shown.icon?.id, expected.icon);
      assert.ok(shown.spoken.startsWith(`job 1, npm test, `), shown.spoken);
    });
  }

  it('shows control characters instead of sending them, and shell text as typed', () => {
    assert.equal(jobTitle(job(1, { argv: ['echo', 'a\u001b[31m\nb'] })), "echo 'a\\e[31m\\nb'");
    assert.equal(commandText(['sh', '-c', 'a | b']), 'a | b');
    assert.equal(commandText(['sh', '-c', 'a', 'b']), 'sh -c a b');
    assert.ok(jobTitle(job(1, { label: 'x'.repeat(500) })).length <= 80);
  });

  it('shows nothing raw of what others wrote, on any line, in any tip, or read aloud', () => {
    const evil = 'a\u001b]8;;x\u0007\n\u202eb\u0000';
    const one = job(1, { label: evil, argv: [evil], cwd: evil, waitReason: evil, tags: { [evil]: evil } });
    const nodes: Node[] = [
      { kind: 'job', id: 'j', queue, job: one },
      { kind: 'attempt', id: 'a', queue, job: one, attempt: attempt(1, 1, { error: evil }), stages: [] },
      {
        kind: 'stage',
        id: 's',
        queue,
        stage: { name: evil, attempt: 1, at: ago(1000), bytes: 1, kind: 'stage', until: null },
      },
      {
        kind: 'stage',
        id: 't',
        queue,
        stage: { name: evil, attempt: 1, at: ago(1000), bytes: 0, kind: 'sleep', until: ago(1) },
      },
      { kind: 'note', id: 'n', queue, text: evil, trouble: true },
      { kind: 'folder', id: 'f', queue: { ...queue, name: evil, root: evil } },
    ];
    for (const node of nodes) {
      const { label, description, tooltip, spoken } = describeNode(node, NOW);
      for (const text of [label, description, spoken, ...tooltip().flat()]) {
        assert.doesNotMatch(text, /[\p{Cc}\u202e]/u, `${node.kind}: ${JSON.stringify(text)}`);
      }
    }
  });
});

describe('lanes, groups and attempts in the tree', () => {
  it('tells running, slots, waiting and the pause of a lane', () => {
    const node: Node = {
      kind: 'lane',
      id: 'l',
      queue,
      alone: false,
      lane: lane('web', { running: 1, slots: 2, queued: 3, blocked: 1 }),
    };
    assert.equal(describeNode(node, NOW).description, '1/2 · 4 waiting');
    assert.deepEqual(describeNode(node, NOW).words, ['lane', 'flowing', 'busy']);
    const paused: Node = { ...node, lane: lane('web', { paused: true }) };
    assert.equal(describeNode(paused, NOW).description, '0/1 · paused');
    assert.deepEqual(describeNode(paused, NOW).words, ['lane', 'paused']);
    assert.deepEqual(
      [node, paused, { ...paused, alone: true }].map((each) => describeNode(each, NOW).fold),
      ['expanded', 'collapsed', 'expanded'],
      'what is live is unfolded, and a first lane',
    );
  });

  it('counts groups without overlap, from what a hint carries', () => {
    const all = counts({ queued: 5, running: 2, done: 100_000, dead: 1 });
    assert.deepEqual(
      GROUPS.map((group) => groupCount(group, all, 3)),
      [2, 2, 3, 0, 1, 100_000, 0],
    );
  });

  it('tells how an attempt ended, lists its stages, and opens its log on a click', () => {
    const stage = { name: 'build', attempt: 1, at: ago(1000), bytes: 10, kind: 'stage' as const, until: null };
    const ended = attempt(1, 1, { state: 'timed_out', failureReason: 'timeout', durationMs: 65_000 });
    const shown = describeNode({ kind: 'attempt', id: 'a', queue, job: job(1), attempt: ended, stages: [] }, NOW);
    assert.equal(shown.description, 'timed out · 1 m 5 s');
    assert.equal(shown.command?.id, 'laneway.showLog');
    const running = describeNode(
      { kind: 'attempt', id: 'a', queue, job: job(1), attempt: attempt(1, 1), stages: [stage] },
      NOW,
    );
    assert.equal(running.description, 'running 5 s · 1 stage');
    assert.equal(running.spoken, 'attempt 1, running 5 s · 1 stage');
    assert.equal(running.fold, 'collapsed');
    const nap = { ...stage, name: 'nap', bytes: 0, kind: 'sleep' as const };
    const sleepUntil = (until: string) =>
      describeNode({ kind: 'stage', id: 's', queue, stage: { ...nap, until } }, NOW);
    assert.equal(sleepUntil(ago(-60_000)).description, 'sleeps, resumes in 1 m');
    assert.equal(sleepUntil(ago(60_000)).spoken, 'sleep nap, slept, resumed 1 m ago');
  });
});
