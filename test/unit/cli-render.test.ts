/** Drawing, at 80 columns and elsewhere: nothing overflows, nothing raw, nothing said by colour alone. */
import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { jobList, jobTable, resultLines } from '../../client/cli/render/jobs.ts';
import { showJob } from '../../client/cli/render/show.ts';
import { checkLines, laneTable, statusLines, workspaceTable } from '../../client/cli/render/status.ts';
import { timelineTable } from '../../client/cli/render/events.ts';
import type { View } from '../../client/cli/render/view.ts';
import { ending } from '../../client/cli/render/words.ts';
import { JOB_STATES, type Job } from '../../shared/job.ts';
import { displayWidth } from '../../shared/text.ts';
import {
  NOW,
  ago,
  sampleAttempt,
  sampleEvent,
  sampleJob,
  sampleLane,
  sampleServer,
  sampleWorker,
} from '../helpers/samples.ts';

const plain: View = { width: 80, colour: false, now: NOW };
const coloured: View = { ...plain, colour: true };

const JOBS: Job[] = [
  sampleJob({ id: 10_000, waitReason: 'lane full: 1 of 1 slots taken' }),
  sampleJob({ id: 9, state: 'running', phase: 'running', startedAt: ago(12_000), argv: ['sh', '-c', 'a | b'] }),
  sampleJob({
    id: 8,
    state: 'queued',
    phase: 'retrying',
    waitReason: 'due at 2030-05-04T12:00:04.000Z',
    lane: 'build',
  }),
  sampleJob({
    id: 7,
    state: 'done',
    phase: 'done',
    label: '夜間ビルド',
    startedAt: ago(61_000),
    finishedAt: ago(60_000),
    exitCode: 0,
  }),
  sampleJob({ id: 6, state: 'dead', phase: 'dead', exitCode: 2, failureReason: 'process_exit', finishedAt: ago(1e7) }),
  sampleJob({ id: 5, state: 'blocked', phase: 'blocked', waitReason: 'needs 9 and 8' }),
  sampleJob({ id: 4, state: 'canceled', phase: 'canceled', failureReason: 'canceled', finishedAt: ago(9e8) }),
];

describe('the list', () => {
  it('is aligned by display width', () => {
    assert.deepEqual(jobTable(JOBS, plain), [
      '   ID  STATE       LANE     WHEN      NOTE                  JOB',
      '10000  ○ queued    default  3 m ago   lane full: 1 of 1 s…  npm test',
      "    9  ▶ running   default  for 12 s                        sh -c 'a | b'",
      '    8  ↻ retrying  build    3 m ago   due in 4 s            npm test',
      '    7  ✔ done      default  1 m ago   took 1 s              夜間ビルド: npm test',
      '    6  ✖ dead      default  2 h ago   exit 2                npm test',
      '    5  ◌ blocked   default  3 m ago   needs 9 and 8         npm test',
      '    4  ⊘ canceled  default  10 d ago                        npm test',
    ]);
  });

  it('fits any terminal, and draws ten thousand jobs', () => {
    const many = Array.from({ length: 10_000 }, (_, id) => sampleJob({ id, argv: ['make', 'x'.repeat(id % 300)] }));
    for (const width of [60, 80, 200]) {
      const lines = jobTable(many, { ...plain, width });
      assert.equal(lines.length, 10_001);
      assert.ok(lines.every((line) => displayWidth(line) <= width));
    }
    // Nothing is cut for a program that reads it.
    assert.ok(
      jobTable(many, { ...plain, width: Number.POSITIVE_INFINITY }).some((line) => line.includes('x'.repeat(299))),
    );
  });

  it('is the same with colour, but for the colour', () => {
    const lines = jobTable(JOBS, coloured);
    assert.ok(lines.join('').includes('\u001b[32m'));
    assert.deepEqual(lines.map(stripVTControlCharacters), jobTable(JOBS, plain));
  });

  it('never prints a control character, whatever a job is called', () => {
    const nasty = fc.string({ unit: 'binary', maxLength: 30 });
    fc.assert(
      fc.property(nasty, fc.array(nasty, { minLength: 1, maxLength: 4 }), (label, argv) => {
        const job = sampleJob({ label, argv, cwd: label, key: label, tags: { [label]: label }, waitReason: label });
        const shown = { job, attempts: [], needs: [job], neededBy: [job], checkpoints: [], env: { [label]: label } };
        const lines = [
          ...jobTable([job], plain),
          ...showJob({ ...shown, history: [sampleEvent({ detail: { reason: label } })] }, plain),
          ...workspaceTable([{ path: label, state: 'missing', database: '', counts: null, serverPid: null }], plain),
          ...checkLines([{ id: 'x', status: 'fail', message: label, hint: label }], plain),
          ...resultLines(
            [{ id: label, state: null, error: { code: 'NOT_FOUND', message: label, hint: label } }],
            () => '',
            plain,
          ).errors,
        ];
        for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('says how to go on, or that there is nothing', () => {
    assert.deepEqual(jobList({ jobs: [], nextCursor: null }, '', false, plain), ['No jobs.']);
    assert.deepEqual(jobList({ jobs: [], nextCursor: null }, '', true, plain), ['No jobs match.']);
    const lines = jobList({ jobs: JOBS, nextCursor: '4' }, 'lane list --cursor 4', false, plain);
    assert.equal(lines.at(-1), 'There are more: lane list --cursor 4');
  });
});

describe('the results of a verb over several jobs', () => {
  it('are a line each; an error names its job once and has its hint on a line of its own', () => {
    const error = { code: 'CONFLICT' as const, message: 'job 7 is done already', hint: 'Look at it' };
    const lost = { code: 'NOT_FOUND' as const, message: 'no job has that label', hint: null };
    const results = [
      { id: 6, state: 'queued' as const, error: null },
      { id: 7, state: null, error },
      { id: 'label:x' as const, state: null, error: lost },
    ];
    assert.deepEqual(
      resultLines(results, ({ state }) => String(state), plain),
      {
        out: ['6  queued'],
        errors: ['lane: job 7 is done already', '  Look at it', 'lane: label:x: no job has that label'],
      },
    );
  });
});

describe('one job', () => {
  it('is a tree of attempts with their events, needs both ways, and stages', () => {
    const job = sampleJob({
      state: 'dead',
      phase: 'dead',
      label: 'nightly',
      attempts: 2,
      failures: 2,
      maxRetries: 1,
      exitCode: 1,
      failureReason: 'process_exit',
      tags: { a: 'b' },
      key: 'k',
      needs: [3],
      timeoutMs: 5_400_000,
      startedAt: ago(61_000),
      finishedAt: ago(60_000),
    });
    const lines = showJob(
      {
        job,
        attempts: [
          sampleAttempt(),
          sampleAttempt({
            number: 2,
            state: 'timed_out',
            failureReason: 'timeout',
            stderrPath: '/state/logs/0/12.2.err.log',
          }),
        ],
        needs: [sampleJob({ id: 3, state: 'done', phase: 'done' })],
        neededBy: [sampleJob({ id: 14, state: 'canceled', phase: 'canceled', label: 'deploy' })],
        checkpoints: [
          { name: 'fetch', attempt: 1, at: ago(119_000), bytes: 2048, kind: 'stage', until: null },
          { name: 'settle', attempt: 1, at: ago(100_000), bytes: 0, kind: 'sleep', until: ago(90_000) },
        ],
        env: { B: '2', A: '1\n' },
        history: [
          sampleEvent(),
          sampleEvent({ type: 'claimed', attempt: 1, at: ago(120_000) }),
          sampleEvent({ type: 'retried', attempt: 1, at: ago(118_800), detail: { automatic: true, delayMs: 2000 } }),
          sampleEvent({ type: 'timed_out', attempt: 2, at: ago(60_000) }),
          sampleEvent({ type: 'dead', at: ago(60_000) }),
        ],
      },
      plain,
    );
    const text = lines.join('\n').replaceAll(/\(\d{4}-[^)]*\)/g, '(…)');
    assert.equal(
      text,
      `Job 12  ✖ dead  exit 1  nightly
  command  npm test
  folder   /home/me/project
  lane     default
  tags     a=b
  key      k
  added    3 m ago (…)
  started  1 m ago (…)
  ended    1 m ago (…)
  retries  1 of 1 used, 0 of 2 crashes forgiven; backoff 2s to 1m
  limits   timeout 1h30m, grace 10s
  needs    3; if one fails: cancel
  env      2 variables as at add

  Needs
  └─ 3  ✔ done  npm test

  Needed by
  └─ 14  ⊘ canceled  deploy

  Stages
  ├─ fetch  attempt 1, 2.0 KiB, 1 m ago
  └─ settle  attempt 1, slept, resumed 1 m ago (…)

  History
  ├─ added  3 m ago
  ├─ attempt 1  ✖ failed  exit 1  took 1.2 s  1 m ago
  │  ├─ claimed  2 m ago
  │  ├─ retried  automatic, delay 2 s  1 m ago
  │  └─ log /state/logs/0/12.1.log (2.0 KiB)
  ├─ attempt 2  ✖ timed out  timed out  took 1.2 s  1 m ago
  │  ├─ timed out  1 m ago
  │  ├─ stdout /state/logs/0/12.1.log (2.0 KiB)
  │  └─ stderr /state/logs/0/12.2.err.log (2.0 KiB)
  └─ dead  1 m ago

  Environment
    A=1\\n
    B=2`,
    );
  });

  it('says every ending in words', () => {
    const table: [Parameters<typeof ending>[0], string | null][] = [
      [{ exitCode: 0, signal: null, failureReason: null }, null],
      [{ exitCode: 3, signal: null, failureReason: 'process_exit' }, 'exit 3'],
      [{ exitCode: null, signal: 'SIGKILL', failureReason: 'process_exit' }, 'ended by SIGKILL'],
      [{ exitCode: null, signal: 'SIGTERM', failureReason: 'timeout' }, 'timed out'],
      [{ exitCode: null, signal: null, failureReason: 'spawn_failed' }, 'could not be started'],
      [{ exitCode: null, signal: null, failureReason: 'dependency' }, 'a job it needs did not succeed'],
    ];
    for (const [end, said] of table) assert.equal(ending(end), said);
  });
});

describe('the overview', () => {
  it('has counts, waits with their reasons, lanes, workers, the server and the logs', () => {
    const lines = statusLines(
      {
        counts: { blocked: 1, queued: 1234, running: 1, done: 7, failed: 0, dead: 0, canceled: 2 },
        scheduled: 2,
        retrying: 1,
        lanes: [sampleLane({ running: 1, queued: 1234, scheduled: 2 }), sampleLane({ name: 'build', paused: true })],
        workers: [sampleWorker()],
        server: sampleServer(),
        logBytes: 3_145_728,
        runningJobs: JOBS.filter(({ state }) => state === 'running'),
        waitingJobs: JOBS.filter(({ state }) => state === 'queued' || state === 'blocked'),
      },
      plain,
    );
    assert.ok(lines.every((line) => displayWidth(line) <= 80));
    const text = lines.join('\n');
    for (const part of [
      '/home/me/project',
      '▶ running 1   ○ queued 1,234 (2 scheduled, 1 retrying)   ◌ blocked 1',
      '✔ done 7   ✖ dead 0   ⊘ canceled 2',
      'Waiting (3 of 1,235)',
      'needs 9 and 8',
      '● full',
      '‖ paused',
      'all',
      'Server  pid 99, version 0.1.0, up 1 h, 2 clients',
      'Logs    3.0 MiB in /state/logs',
    ]) {
      assert.ok(text.includes(part), `${part} in\n${text}`);
    }
  });

  it('draws lanes with what is set', () => {
    const set = sampleLane({
      name: 'deploy',
      slots: 2,
      timeoutMs: 60_000,
      maxRetries: 0,
      retryDelayMs: 1000,
      retryMaxDelayMs: 60_000,
      pauseOnFailure: true,
    });
    assert.deepEqual(laneTable([sampleLane(), set], plain), [
      'LANE     STATE   RUNNING  QUEUED  LATER  BLOCKED  SETTINGS',
      'default  ○ open      0/1       0      0        0',
      'deploy   ○ open      0/2       0      0        0  timeout 1m, 0 retries, backoff 1s, backoff up to 1m, pauses on failure',
    ]);
  });

  it('knows a word and a symbol for every state', () => {
    const shown = JOB_STATES.map((state) => jobTable([sampleJob({ state, phase: state })], plain)[1] ?? '');
    for (const [index, state] of JOB_STATES.entries())
      assert.match(shown[index] ?? '', new RegExp(`[^\\w\\s] ${state}`));
    assert.equal(new Set(shown.map((line) => line.trim().split(/\s+/)[1])).size, JOB_STATES.length);
  });

  it('merges a timeline', () => {
    const attempt = sampleAttempt();
    const lines = timelineTable([sampleEvent(), { kind: 'attempt', at: attempt.startedAt, attempt }], plain);
    assert.equal(lines.length, 3);
    assert.match(lines[2] ?? '', /1 {2}attempt failed {2}exit 1, took 1.2 s/);
    assert.deepEqual(timelineTable([], plain), ['Nothing has happened.']);
    const put = sampleEvent({
      type: 'retried',
      detail: { nextRunAt: new Date(Date.parse(sampleEvent().at) + 4000).toISOString() },
    });
    assert.match(
      timelineTable([put], plain).at(-1)!,
      /next run after 4 s$/,
      'how long it was put off, whenever one looks',
    );
  });
});
