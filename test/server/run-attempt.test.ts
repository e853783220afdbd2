/** What a job's process is given, and what becomes of it: real processes, real store. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../helpers/waitFor.ts';
import { isAlive, openRunQueue, runningBelow, until } from './run-support.ts';

test('stdout and stderr share one file in the exact order written, and both paths name it', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const id = await queue.sh('for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done');
  assert.equal((await queue.ended(id)).state, 'done');
  const expected = [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join('');
  assert.equal(queue.output(id), expected);
  const { stdoutPath, stderrPath, stdoutBytes, pid, exitCode } = queue.attempt(id);
  assert.equal(stderrPath, stdoutPath);
  assert.equal(stdoutBytes, expected.length);
  assert.equal(exitCode, 0);
  assert.ok(pid !== null && pid > 1);
  assert.equal(fs.statSync(stdoutPath ?? '').mode & 0o777, 0o600);
  assert.equal(fs.statSync(path.dirname(stdoutPath ?? '')).mode & 0o777, 0o700);
});

test('a split job has a file for each', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const id = await queue.sh('echo to out; echo to err >&2', { split: true });
  await queue.ended(id);
  assert.equal(queue.output(id), 'to out\n');
  assert.equal(queue.output(id, 'stderrPath'), 'to err\n');
  assert.equal(queue.attempt(id).stderrBytes, 7);
});

test('exit codes and signals are recorded as they were', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const cases = [
    { text: 'exit 0', state: 'done', exitCode: 0, signal: null },
    { text: 'exit 3', state: 'dead', exitCode: 3, signal: null },
    { text: 'exit 255', state: 'dead', exitCode: 255, signal: null },
    { text: 'kill -KILL $$', state: 'dead', exitCode: null, signal: 'SIGKILL' },
    { text: 'kill -TERM $$', state: 'dead', exitCode: null, signal: 'SIGTERM' },
  ];
  for (const { text, ...expected } of cases) {
    const { state, exitCode, signal } = await queue.ended(await queue.sh(text));
    assert.deepEqual({ state, exitCode, signal }, expected, text);
  }
});

test('a leader killed from outside is a failure, and leaves no zombie', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker();
  const id = await queue.sh('exec sleep 600');
  const pid = await waitFor(() => (queue.job(id).state === 'running' ? queue.attempt(id).pid : null));
  process.kill(pid, 'SIGKILL');
  const job = await queue.ended(id);
  assert.deepEqual([job.state, job.signal, job.failureReason], ['dead', 'SIGKILL', 'process_exit']);
  assert.equal(fs.existsSync(`/proc/${pid}`), false);
  assert.equal(worker.running(), 0);
});

test('argv reaches the program unchanged', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const args = ['a b', '', 'new\nline', `'"\\\``, '$HOME', '*', '-n', '--', 'zażółć 💡', '%PATH%', '!x', '\t', ' '];
  const program = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
  const id = await queue.add({ argv: [process.execPath, '-e', program, '--', ...args] });
  await queue.ended(id);
  assert.deepEqual(JSON.parse(queue.output(id)), args);
});

test('stdin is at its end at once', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const id = await queue.add({ argv: ['cat'] });
  assert.equal((await queue.ended(id)).state, 'done');
});

test('the job sees the environment captured at add, not that of its worker', async (t) => {
  const queue = await openRunQueue(t);
  process.env['LANEWAY_LEAK'] = 'of the worker';
  t.after(() => delete process.env['LANEWAY_LEAK']);
  await queue.worker();
  const env = { PATH: process.env['PATH'] ?? '', BAR: '2', VSCODE_PID: '7', ELECTRON_RUN_AS_NODE: '1' };
  const id = await queue.add(
    { argv: [process.execPath, '-p', 'JSON.stringify(process.env)'], env: { BAZ: '3' }, lane: 'builds' },
    { env },
  );
  await queue.ended(id);
  const seen = JSON.parse(queue.output(id)) as Record<string, string>;
  const { PATH, LANEWAY_WORKER, LANEWAY_IDEMPOTENCY_KEY, ...rest } = seen;
  assert.deepEqual(rest, {
    BAR: '2',
    BAZ: '3',
    LANEWAY_JOB_ID: String(id),
    LANEWAY_ATTEMPT: '1',
    LANEWAY_FENCE: '1',
    LANEWAY_LANE: 'builds',
    LANEWAY_WORKSPACE: queue.root,
    LANEWAY_HOME: queue.paths.home,
  });
  assert.equal(PATH, `/opt/lane:${env.PATH}`);
  assert.equal(LANEWAY_WORKER, queue.attempt(id).workerId);
  assert.ok(LANEWAY_IDEMPOTENCY_KEY?.endsWith(`:${id}`));
});

test("files get the caller's umask, the worker keeps its own", async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const before = process.umask();
  for (const [umask, mode] of [
    [0o077, 0o600],
    [0o002, 0o664],
  ] as const) {
    const name = `made-${umask}`;
    await queue.ended(await queue.add({ argv: ['touch', name] }, { umask }));
    assert.equal(fs.statSync(queue.file(name)).mode & 0o777, mode);
  }
  assert.equal(process.umask(), before);
});

test('5 MB printed in one go and an exit at once: every byte is there, every time', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const size = 5 * 1024 * 1024;
  const jobs: number[] = [];
  for (let run = 0; run < 30; run += 1) {
    jobs.push(await queue.sh(`head -c ${size} /dev/zero | tr '\\0' x; printf END >&2`));
  }
  for (const id of jobs) {
    await queue.ended(id);
    const file = queue.attempt(id).stdoutPath ?? '';
    assert.equal(fs.statSync(file).size, size + 3, `job ${id}`);
    assert.equal(queue.attempt(id).stdoutBytes, size + 3);
  }
});

test('an attempt ends with its leader; what it left behind goes on after an exit 0', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const go = queue.file('go');
  const id = await queue.sh(`(${until(go)}; echo late) & echo early`);
  await queue.ended(id);
  assert.equal(queue.output(id), 'early\n');
  assert.equal(runningBelow(queue.root).length > 0, true);
  fs.writeFileSync(go, '');
  await waitFor(() => queue.output(id) === 'early\nlate\n');
});

test('what a failed attempt left behind is gone before the job runs again', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  // The child ignores TERM, so only KILL after the grace clears the way.
  const text = `
    if [ -e pid ]; then grep -qs '^State:.[^Z]' /proc/$(cat pid)/status && echo alive || echo gone; exit 0; fi
    (trap '' TERM; touch ready; while :; do sleep 0.05; done) & echo $! > pid
    ${until('ready')}
    exit 1`;
  const id = await queue.sh(text, { maxRetries: 1, retryDelayMs: 1, cancelGraceMs: 100 });
  assert.equal((await queue.ended(id)).state, 'done');
  assert.equal(queue.output(id), 'gone\n');
  assert.deepEqual(
    queue.attempts(id).map(({ state }) => state),
    ['failed', 'succeeded'],
  );
});

test('a timeout sends TERM, waits the grace, then kills the whole group', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const polite = await queue.sh(`trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.02; done`, {
    timeoutMs: 1500,
  });
  const first = await queue.ended(polite);
  assert.deepEqual([first.state, first.failureReason, queue.attempt(polite).state], ['dead', 'timeout', 'timed_out']);
  assert.match(queue.output(polite), /^ready\n(.*\n)?cleaned\n$/);
  assert.match(queue.attempt(polite).error ?? '', /timeout of 1s500ms/);

  const stubborn = await queue.sh(`trap '' TERM; while :; do sleep 0.02; done`, { timeoutMs: 300, cancelGraceMs: 200 });
  const second = await queue.ended(stubborn);
  assert.deepEqual([second.state, second.signal], ['dead', 'SIGKILL']);
  assert.deepEqual(runningBelow(queue.root), []);
});

test('output beyond the log limit stops the job with that reason', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker({ logLimit: () => 100_000 });
  const id = await queue.sh('yes');
  const job = await queue.ended(id);
  assert.deepEqual([job.state, job.failureReason], ['dead', 'log_limit']);
  assert.match(queue.attempt(id).error ?? '', /100000 bytes/);
  assert.ok((queue.attempt(id).stdoutBytes ?? 0) > 100_000);
});

test('a program that cannot start says why in words', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  fs.mkdirSync(queue.file('folder'));
  fs.writeFileSync(queue.file('plain'), 'echo hi\n', { mode: 0o644 });
  fs.writeFileSync(queue.file('broken'), '#!/no/such/interpreter -x\n', { mode: 0o755 });
  fs.mkdirSync(queue.file('vanished'));
  const cases: [string, Parameters<typeof queue.add>[0], RegExp][] = [
    ['missing program', { argv: ['no-such-program'] }, /no program "no-such-program" on its PATH/],
    ['missing file', { argv: ['./absent'] }, /no such program: \.\/absent/],
    ['folder', { argv: ['./folder'] }, /a folder, not a program/],
    ['not executable', { argv: ['./plain'] }, /not executable: \.\/plain/],
    ['interpreter', { argv: ['./broken'] }, /interpreter.*\/no\/such\/interpreter/],
    ['cwd in a file', { argv: ['true'], cwd: queue.file('plain/below') }, /working directory does not exist/],
    ['cwd', { argv: ['true'], cwd: queue.file('vanished') }, /working directory does not exist/],
  ];
  for (const [name, request, reason] of cases) {
    if (name === 'cwd') fs.rmdirSync(queue.file('vanished'));
    const id = await queue.add(request);
    const job = await queue.ended(id);
    assert.deepEqual([job.state, job.failureReason], ['dead', 'spawn_failed'], name);
    assert.match(queue.attempt(id).error ?? '', reason, name);
  }
  assert.deepEqual(fs.existsSync(queue.logs) ? fs.readdirSync(queue.logs) : [], [], 'no empty log is left');
});

test('an environment too large for the system is told as that', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const env = { PATH: process.env['PATH'] ?? '', BIG: 'x'.repeat(200_000) };
  const id = await queue.add({ argv: ['true'] }, { env });
  const job = await queue.ended(id);
  assert.equal(job.failureReason, 'spawn_failed');
  assert.match(queue.attempt(id).error ?? '', /too large.*E2BIG/);
  const next = await queue.sh('exit 0');
  assert.equal((await queue.ended(next)).state, 'done');
});

test('cancel ends the whole group, grandchildren included, and only then the job', async (t) => {
  const queue = await openRunQueue(t);
  const worker = await queue.worker();
  // The middle shell exits; its child is an orphan inside the group.
  const id = await queue.sh(`sh -c 'sleep 600 & echo $! > grandchild; exit 0'; touch ready; sleep 600`);
  await waitFor(() => fs.existsSync(queue.file('ready')));
  const grandchild = Number(queue.text('grandchild'));
  assert.ok(isAlive(grandchild));
  await queue.cancel(id);
  const job = await queue.ended(id);
  assert.deepEqual([job.state, job.failureReason, queue.attempt(id).state], ['canceled', 'canceled', 'canceled']);
  assert.equal(isAlive(grandchild), false);
  assert.deepEqual(runningBelow(queue.root), []);
  assert.equal(worker.running(), 0);
});

test('cancel lets a TERM trap finish, and reaches a stopped process', async (t) => {
  const queue = await openRunQueue(t);
  await queue.worker();
  const trap = await queue.sh(`trap 'touch trapped; exit 1' TERM; touch ready; while :; do sleep 0.02; done`);
  const stopped = await queue.sh(`trap 'touch trapped2; exit 1' TERM; touch ready2; kill -STOP $$; sleep 600`, {
    lane: 'other',
    cancelGraceMs: 60_000,
  });
  await waitFor(() => fs.existsSync(queue.file('ready')) && fs.existsSync(queue.file('ready2')));
  await queue.cancel(trap, stopped);
  assert.equal((await queue.ended(trap)).state, 'canceled');
  assert.ok(fs.existsSync(queue.file('trapped')));
  assert.equal((await queue.ended(stopped)).state, 'canceled');
  assert.ok(fs.existsSync(queue.file('trapped2')));
});
