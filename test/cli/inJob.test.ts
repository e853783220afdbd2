/**
 * `lane checkpoint` and `lane sleep`, as scripts use them: whatever is killed between and inside
 * stages, no finished stage runs again, and what it printed is printed again byte for byte.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Checkpoint, Job } from '../../shared/job.ts';
import { MAX_CHECKPOINT } from '../../shared/limits.ts';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

interface Shown {
  job: Job;
  attempts: { number: number; state: string; pid: number | null }[];
  checkpoints: Checkpoint[];
}
const show = (box: Sandbox, id: number): Promise<Shown> => box.json<Shown>(['show', String(id)]);
const reach = (box: Sandbox, id: number, state: Job['state']): Promise<unknown> =>
  waitFor(async () => (await show(box, id)).job.state === state, { what: `job ${id} to be ${state}` });

/** How often each stage's command ran: it appends its name to this file. */
function counter(box: Sandbox): { file: string; counts: () => Record<string, number> } {
  const file = path.join(box.root, 'ran');
  const counts = (): Record<string, number> => {
    const names = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
    return Object.fromEntries([...new Set(names)].map((name) => [name, names.filter((one) => one === name).length]));
  };
  return { file, counts };
}

/** Three stages; each but the last waits for its gate before it ends. */
function stages(box: Sandbox, ran: string): { script: string; gate: (name: string) => string } {
  const gate = (name: string): string => path.join(box.root, `gate-${name}`);
  const stage = (name: string): string =>
    `lane checkpoint ${name} -- sh -c "echo ${name} >> '${ran}'; echo out-${name}; while [ ! -e '${gate(name)}' ]; do sleep 0.05; done" || exit`;
  return { script: ['one', 'two', 'three'].map(stage).join('\n'), gate };
}

describe('lane checkpoint', () => {
  for (const victim of ['job', 'server', 'worker'] as const) {
    it(`does no finished stage twice when the ${victim} is killed inside and between stages`, async (t) => {
      const box = sandbox(t);
      const { file, counts } = counter(box);
      const { script, gate } = stages(box, file);
      const flags = ['--retries', '5', '--crashes', '5', '--retry-delay', '10ms'];
      await box.json(['add', ...(victim === 'worker' ? ['--direct'] : []), ...flags, '-c', script]);
      let worker = victim === 'worker' ? box.startLane(['work']) : null;
      const ask = (): Promise<Shown> => box.json<Shown>(['show', ...(victim === 'worker' ? ['--direct'] : []), '1']);
      const kill = async (): Promise<void> => {
        if (victim === 'server') {
          await box.killServer();
          await ask();
        } else if (victim === 'worker') {
          worker?.child.kill('SIGKILL');
          await worker?.ended;
          worker = box.startLane(['work']);
        } else {
          const pid = (await ask()).attempts.at(-1)?.pid;
          assert.ok(pid);
          process.kill(-pid, 'SIGKILL');
        }
      };
      const times = (name: string, n: number): Promise<unknown> =>
        waitFor(() => counts()[name] === n, { what: `stage ${name} to have begun ${n} times` });

      await times('one', 1);
      await kill();
      await times('one', 2);
      fs.writeFileSync(gate('one'), '');
      await times('two', 1);
      await kill();
      await times('two', 2);
      fs.writeFileSync(gate('two'), '');
      fs.writeFileSync(gate('three'), '');
      await waitFor(async () => (await ask()).job.state === 'done', { what: 'the job to be done' });
      assert.deepEqual(counts(), { one: 2, two: 2, three: 1 }, 'only what was cut off was done again');
      const { checkpoints } = await ask();
      assert.deepEqual(checkpoints.map(({ name }) => name).sort(), ['one', 'three', 'two']);
      const output = await box.lane(['output', ...(victim === 'worker' ? ['--direct'] : []), '1']);
      assert.equal(output.stdout, 'out-one\nout-two\nout-three\n', 'stored stages print what they printed');
      worker?.child.kill('SIGTERM');
      await worker?.ended;
    });
  }

  it('stores bytes exactly, and prints them again', async (t) => {
    const box = sandbox(t);
    const { file, counts } = counter(box);
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const source = path.join(box.root, 'bytes');
    fs.writeFileSync(source, bytes);
    const script = `lane checkpoint b -- sh -c "echo b >> '${file}'; cat '${source}'" > "${box.root}/copy.$LANEWAY_ATTEMPT"; lane checkpoint empty -- true; [ $LANEWAY_ATTEMPT = 2 ]`;
    const { job } = await box.json<{ job: Job }>([
      'add',
      '--wait',
      '--retries',
      '1',
      '--retry-delay',
      '1ms',
      '-c',
      script,
    ]);
    assert.equal(job.state, 'done');
    for (const attempt of [1, 2]) assert.deepEqual(fs.readFileSync(path.join(box.root, `copy.${attempt}`)), bytes);
    assert.deepEqual(counts(), { b: 1 });
    assert.deepEqual(
      (await show(box, job.id)).checkpoints.map(({ name, bytes: size }) => `${name} ${size}`).toSorted(),
      ['b 256', 'empty 0'],
    );
  });

  it('stores nothing of a failed, an unknown, or a too large stage', async (t) => {
    const box = sandbox(t);
    const cases: [string, number, number][] = [
      ['lane checkpoint x -- sh -c "echo partly; exit 9"', 9, 7],
      ['lane checkpoint x -- sh -c "kill -9 \\$\\$"', 137, 0],
      [`lane checkpoint x -- head -c ${MAX_CHECKPOINT + 1} /dev/zero`, 1, MAX_CHECKPOINT + 1],
    ];
    for (const [script, expected, printed] of cases) {
      const result = await box.lane(['run', '--split', '-c', script]);
      assert.equal(result.code, expected, `${script}: ${result.stderr}`);
      assert.equal(result.bytes.length, printed, `${script}: what it printed went through`);
      const { jobs } = await box.json<{ jobs: Job[] }>(['list', '--limit', '1']);
      assert.deepEqual((await show(box, jobs[0]?.id ?? 0)).checkpoints, []);
    }
    const exact = await box.lane(['run', '-c', `lane checkpoint x -- head -c ${MAX_CHECKPOINT} /dev/zero | wc -c`]);
    assert.deepEqual([exact.code, exact.stdout.trim()], [0, String(MAX_CHECKPOINT)]);
    const unknown = await box.lane(['run', '--split', '-c', 'lane checkpoint x -- /no/such/program']);
    assert.equal(unknown.code, 3);
    assert.match(unknown.stderr, /cannot be started/);
  });

  it('refuses a stage of an owner that was displaced, and anything outside of a job', async (t) => {
    const box = sandbox(t);
    const env = path.join(box.root, 'env');
    const gate = path.join(box.root, 'gate');
    await box.json([
      'add',
      '--retries',
      '1',
      '--retry-delay',
      '1ms',
      '-c',
      `[ $LANEWAY_ATTEMPT = 1 ] && env -0 > '${env}' && exit 1; while [ ! -e '${gate}' ]; do sleep 0.05; done`,
    ]);
    await waitFor(async () => (await show(box, 1)).attempts.at(1)?.state === 'running', { what: 'the second attempt' });
    const old = Object.fromEntries(
      fs
        .readFileSync(env, 'utf8')
        .split('\0')
        .filter(Boolean)
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
    );
    const marker = path.join(box.root, 'must-not-exist');
    const stale = await box.lane(['checkpoint', 'x', '--', 'touch', marker], { env: old });
    assert.ok(stale.code === 5 || stale.code === 2, `${stale.code}: ${stale.stderr}`);
    assert.ok(!fs.existsSync(marker), 'the stage did not even begin');
    const slept = await box.lane(['sleep', 'x', '1h'], { env: old });
    assert.ok(slept.code === 5 || slept.code === 2, `${slept.code}: ${slept.stderr}`);
    assert.deepEqual((await show(box, 1)).checkpoints, []);
    fs.writeFileSync(gate, '');
    await reach(box, 1, 'done');

    for (const args of [
      ['checkpoint', 'x', '--', 'true'],
      ['sleep', 'x', '1s'],
      ['checkpoint', '--', 'true'],
      ['checkpoint', 'x'],
      ['checkpoint', 'x', 'y', '--', 'true'],
      ['sleep', 'x'],
      ['sleep', 'x', 'soon'],
      ['sleep', 'x'.repeat(201), '1s'],
    ]) {
      const { code, stderr } = await box.lane(args);
      assert.equal(code, 1, `${args.join(' ').slice(0, 60)}: ${stderr}`);
    }
    assert.match((await box.lane(['checkpoint', 'x', '--', 'true'])).stderr, /only inside a running job/);
  });
});

describe('lane sleep', () => {
  it('gives the slot back, spends no budget, survives the server, and is over once', async (t) => {
    const box = sandbox(t);
    const { file, counts } = counter(box);
    const script = `echo "run $LANEWAY_ATTEMPT"; lane checkpoint work -- sh -c "echo work >> '${file}'"; lane sleep nap 3s; status=$?; echo "sleep $status"; [ $status = 0 ] || exit $status; echo awake`;
    await box.json(['add', '-c', script]);
    await waitFor(async () => (await show(box, 1)).job.phase === 'scheduled', { what: 'the job to sleep' });
    const between = await show(box, 1);
    assert.deepEqual([between.job.failures, between.attempts[0]?.state], [0, 'succeeded']);
    // The lane has one slot, and it is free.
    assert.equal((await box.lane(['run', '--', 'true'])).code, 0);
    await box.killServer();
    const [job] = (await box.json<{ jobs: Job[] }>(['wait', '1'])).jobs;
    assert.deepEqual([job?.state, job?.attempts, job?.failures], ['done', 2, 0]);
    assert.deepEqual(counts(), { work: 1 });
    assert.equal(
      (await box.lane(['output', '--attempt', '1', '1'])).stdout.replace(/^lane: sleeping.*\n/m, ''),
      'run 1\nsleep 75\n',
    );
    assert.equal((await box.lane(['output', '1'])).stdout, 'run 2\nsleep 0\nawake\n');
    const { events } = await box.json<{ events: { type: string }[] }>(['events', '--job', '1']);
    assert.ok(events.some(({ type }) => type === 'slept'));
  });

  it('counts as done when the job ends well all the same', async (t) => {
    const box = sandbox(t);
    const { job } = await box.json<{ job: Job }>(['add', '--wait', '-c', 'lane sleep nap 1h; exit 0']);
    assert.equal(job.state, 'done');
  });
});
