/** What `--json` prints: exactly the documented fields, absent values null, nothing else on stdout. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const words = (text: string): string[] => text.split(/[\s,]+/).sort();
const SHAPES = {
  job: words(
    'id, lane, argv, cwd, label, tags, priority, state, phase, waitReason, nextRunAt, attempts, failures, maxRetries, crashes, maxCrashes, retryDelayMs, retryMaxDelayMs, timeoutMs, cancelGraceMs, split, key, needs, onNeedFailure, rerunOf, envNames, createdAt, startedAt, finishedAt, exitCode, signal, failureReason, workerId, cancelRequested',
  ),
  attempt: words(
    'jobId, number, state, workerId, fence, pid, startedAt, finishedAt, durationMs, exitCode, signal, failureReason, error, stdoutPath, stderrPath, stdoutBytes, stderrBytes',
  ),
  event: words('id, jobId, attempt, type, at, workerId, detail'),
  lane: words(
    'name, slots, paused, running, queued, scheduled, blocked, timeoutMs, cancelGraceMs, maxRetries, retryDelayMs, retryMaxDelayMs, pauseOnFailure',
  ),
  worker: words('id, kind, pid, startedAt, heartbeatAt, lanes, running, concurrency, schema'),
  server: words('running, pid, version, protocol, workspace, socket, database, logs, uptimeMs, clients'),
  counts: words('blocked, queued, running, done, failed, dead, canceled'),
  workspace: words('path, state, database, counts, serverPid'),
  check: words('id, status, message, hint'),
};
type Shape = keyof typeof SHAPES;
type Json = Record<string, unknown>;

/** Exactly these fields, none undefined; times and durations in their documented form. */
function assertShape(value: unknown, fields: readonly string[], what: string): asserts value is Json {
  assert.deepEqual(Object.keys(value as Json).sort(), [...fields].sort(), what);
  for (const [name, field] of Object.entries(value as Json)) {
    if (field === null) continue;
    if (name.endsWith('At') || name === 'at')
      assert.match(field as string, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, name);
    if (name.endsWith('Ms')) assert.ok(Number.isInteger(field), `${name} is whole milliseconds`);
  }
}
const assertIs = (value: unknown, shape: Shape): void => assertShape(value, SHAPES[shape], shape);

interface Added {
  job: { id: number };
}
interface Shown {
  job: Json & { state: string };
  attempts: Json[];
  needs: Json[];
  neededBy: Json[];
  checkpoints: Json[];
  env?: Json;
}

async function add(box: Sandbox, ...args: string[]): Promise<number> {
  return (await box.json<Added & Json>(['add', ...args])).job.id;
}

describe('--json', () => {
  it('prints exactly the documented shapes', async (t) => {
    const box = sandbox(t);
    const done = await add(
      box,
      '--wait',
      '--label',
      'first',
      '--tag',
      'a=b',
      '--key',
      'k',
      '--',
      'sh',
      '-c',
      'echo $X',
      '',
    );
    const dead = await add(box, '--', 'false');
    const later = await add(box, '--after', '1h', '--env', 'X=1', '--', 'true');
    const blocked = await add(box, '--needs', String(later), '--', 'true');
    await waitFor(async () => (await box.json<Shown & Json>(['show', String(dead)])).job.state === 'dead');

    const list = await box.json(['list']);
    assertShape(list, ['jobs', 'nextCursor'], 'list');
    assert.equal(list['nextCursor'], null);
    assert.deepEqual(
      (list['jobs'] as { id: number }[]).map(({ id }) => id),
      [blocked, later, dead, done],
    );
    for (const job of list['jobs'] as Json[]) assertIs(job, 'job');

    const shown = await box.json<Shown & Json>(['show', 'label:first']);
    assertShape(shown, ['job', 'attempts', 'needs', 'neededBy', 'checkpoints'], 'show');
    assertIs(shown.job, 'job');
    assert.deepEqual(shown.job['argv'], ['sh', '-c', 'echo $X', '']);
    for (const attempt of shown.attempts) assertIs(attempt, 'attempt');
    assert.equal(shown.attempts.length, 1);
    const withEnv = await box.json<Shown & Json>(['show', String(later), '--env']);
    assertShape(withEnv, ['job', 'attempts', 'needs', 'neededBy', 'checkpoints', 'env'], 'show --env');
    assert.equal(withEnv.env?.['X'], '1');
    assert.deepEqual(
      withEnv.neededBy.map(({ id }) => id),
      [blocked],
    );
    for (const job of withEnv.neededBy) assertIs(job, 'job');

    const status = await box.json(['status']);
    assertShape(status, ['counts', 'scheduled', 'retrying', 'lanes', 'workers', 'server'], 'status');
    assertIs(status['counts'], 'counts');
    assert.deepEqual(status['counts'], { blocked: 1, queued: 1, running: 0, done: 1, failed: 0, dead: 1, canceled: 0 });
    assert.deepEqual([status['scheduled'], status['retrying']], [1, 0]);
    assertIs(status['server'], 'server');
    for (const lane of status['lanes'] as Json[]) assertIs(lane, 'lane');
    for (const worker of status['workers'] as Json[]) assertIs(worker, 'worker');
    assert.deepEqual(Object.keys(await box.json([])).sort(), Object.keys(status).sort(), 'lane alone is status');

    const timeline = await box.json(['timeline', String(done), '--limit', '2']);
    assertShape(timeline, ['entries', 'nextCursor'], 'timeline');
    const entries = [...(timeline['entries'] as Json[])];
    assert.equal(entries.length, 2);
    const rest = await box.json(['timeline', String(done), '--cursor', String(timeline['nextCursor'])]);
    entries.push(...(rest['entries'] as Json[]));
    assert.equal(rest['nextCursor'], null);
    for (const entry of entries) {
      const kind = entry['kind'] as 'event' | 'attempt';
      assertShape(entry, ['kind', 'at', kind], 'timeline entry');
      assertIs(entry[kind], kind);
    }
    assert.deepEqual(
      new Set(entries.map(({ kind, event }) => (kind === 'attempt' ? 'attempt' : (event as Json)['type']))),
      new Set(['added', 'attempt', 'claimed', 'succeeded']),
    );

    const bumped = await box.json(['bump', String(later), '--priority', '7']);
    assertShape(bumped, ['results'], 'bump');
    assert.deepEqual(bumped['results'], [{ id: later, state: 'queued', error: null }]);
    assert.deepEqual(await box.json(['retry', String(dead)]), {
      results: [{ id: dead, state: 'queued', error: null }],
    });
    const rerun = await box.json(['rerun', String(done)]);
    assertShape(rerun, ['jobs'], 'rerun');
    const [again] = rerun['jobs'] as Json[];
    assertIs(again, 'job');
    assert.deepEqual([again?.['rerunOf'], again?.['key'], again?.['label']], [done, null, 'first']);
    assert.deepEqual(await box.json(['cancel', String(later)]), {
      results: [{ id: later, state: 'canceled', wasRunning: false, error: null }],
    });
  });

  it('prints lanes, prune, workspaces and doctor in their shapes', async (t) => {
    const box = sandbox(t);
    const settings =
      '--slots 3 --timeout 5m --grace 500ms --retries 2 --retry-delay 1s --retry-max-delay 1h30m --pause-on-failure true';
    const set = await box.json(['lanes', 'set', 'build', ...settings.split(' ')]);
    assertShape(set, ['lane'], 'lanes set');
    assert.deepEqual(set['lane'], {
      name: 'build',
      slots: 3,
      paused: false,
      running: 0,
      queued: 0,
      scheduled: 0,
      blocked: 0,
      timeoutMs: 300_000,
      cancelGraceMs: 500,
      maxRetries: 2,
      retryDelayMs: 1000,
      retryMaxDelayMs: 5_400_000,
      pauseOnFailure: true,
    });
    const { lane: cleared } = await box.json<{ lane: Json }>([
      'lanes',
      'set',
      'build',
      '--timeout',
      'none',
      '--retries=none',
    ]);
    assert.deepEqual([cleared['timeoutMs'], cleared['maxRetries'], cleared['cancelGraceMs']], [null, null, 500]);
    for (const [args, paused] of [
      [['pause', 'build'], true],
      [['resume', 'build'], false],
    ] as const) {
      const answer = await box.json(args);
      assertShape(answer, ['lanes'], args.join(' '));
      for (const lane of answer['lanes'] as Json[]) assertIs(lane, 'lane');
      assert.deepEqual(
        (answer['lanes'] as Json[]).map((lane) => lane['paused']),
        [paused],
      );
    }
    const lanes = await box.json(['lanes']);
    assertShape(lanes, ['lanes'], 'lanes');
    for (const lane of lanes['lanes'] as Json[]) assertIs(lane, 'lane');
    assertShape(await box.json(['lanes', 'remove', 'build']), ['lane'], 'lanes remove');

    const id = await add(box, '--wait', '--', 'true');
    assert.deepEqual(await box.json(['prune', '--dry-run']), { deleted: 1, bytesFreed: 0 });
    assert.deepEqual(await box.json(['prune', '--yes']), { deleted: 1, bytesFreed: 0 });
    assert.equal((await box.lane(['show', String(id)])).code, 5);

    const doctor = await box.json(['doctor', '--deep']);
    assertShape(doctor, ['ok', 'checks'], 'doctor');
    assert.equal(doctor['ok'], true);
    for (const check of doctor['checks'] as Json[]) assertIs(check, 'check');

    const workspaces = await box.json(['workspaces']);
    assertShape(workspaces, ['workspaces'], 'workspaces');
    const [workspace, ...others] = workspaces['workspaces'] as Json[];
    assert.deepEqual(others, []);
    assertIs(workspace, 'workspace');
    assert.deepEqual([workspace?.['path'], workspace?.['state']], [box.workspace, 'present']);
  });

  it('is the same with --direct', async (t) => {
    const box = sandbox(t);
    await box.json(['--direct', 'add', '--', 'true']);
    const status = await box.json(['--direct', 'status']);
    assertShape(status, ['counts', 'scheduled', 'retrying', 'lanes', 'workers', 'server'], 'status');
    assertIs(status['server'], 'server');
    const { jobs } = await box.json<{ jobs: Json[] }>(['--direct', 'list']);
    for (const job of jobs) assertIs(job, 'job');
    assert.equal(box.serverPid(), null, 'no server was started');
  });
});
