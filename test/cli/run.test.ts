/** `lane run`: output, exit statuses, Ctrl-C, and that it outlives its server. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import type { Job } from '../../shared/job.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const jobOf = async (box: Sandbox, ref: string | number): Promise<Job> =>
  (await box.json<{ job: Job }>(['show', String(ref)])).job;
const reach = (box: Sandbox, ref: string | number, state: Job['state']): Promise<unknown> =>
  waitFor(async () => (await jobOf(box, ref)).state === state, { what: `job ${ref} to be ${state}` });

/** Runs `lane ARGS…` with a pipe as its descriptor 40, and resolves when nobody holds that open any more. */
async function untilPipeEnds(box: Sandbox, args: string[]): Promise<void> {
  const stdio = Array.from<unknown, 'ignore' | 'pipe'>({ length: 41 }, (_, index) =>
    index === 40 ? 'pipe' : 'ignore',
  );
  const child = spawn(process.execPath, [path.join(dist, 'cli.js'), ...args], {
    cwd: box.workspace,
    env: box.env,
    stdio,
  });
  const pipe = child.stdio.at(-1) as Readable;
  let open = true;
  pipe.resume().once('end', () => (open = false));
  await once(child, 'exit');
  await waitFor(() => !open, { what: `nobody to hold the pipe after lane ${args.join(' ')}` });
}

describe('lane run', () => {
  it('exits as the job does', async (t) => {
    const box = sandbox(t);
    const cases: [string[], number][] = [
      [['--', 'true'], 0],
      [['--', 'sh', '-c', 'exit 42'], 42],
      [['--', 'sh', '-c', 'kill -9 $$'], 137],
      [['--', '/no/such/program'], 127],
      [['--timeout', '100ms', '--grace', '1s', '--', 'sleep', '600'], 124],
      [['--lane', '/', '--', 'true'], 125],
      [['--nope', '--', 'true'], 125],
      [[], 125],
      [['--workspace', '/no/such/folder', '--', 'true'], 125],
    ];
    for (const [args, expected] of cases) {
      const { code, stderr } = await box.lane(['run', ...args]);
      assert.equal(code, expected, `${args.join(' ')}: ${stderr}`);
      if (code === 127) assert.match(stderr, /could not be started: there is no such program: \/no\/such\/program/);
    }
  });

  it('hands on no descriptor of its caller: a lock or a pipe that a script holds ends with the script', async (t) => {
    const box = sandbox(t);
    for (const words of [['run'], ['run', '--direct']]) {
      // What a job leaves behind would hold it too.
      await untilPipeEnds(box, [...words, '-c', 'sleep 600 & echo $!']);
      const { stdout } = await box.lane(['output', 'last']);
      process.kill(Number(stdout), 'SIGKILL');
    }
    assert.notEqual(box.serverPid(), null, 'the server outlives its caller');
  });

  it('inside a job refuses to wait for a slot that the job itself holds', async (t) => {
    const box = sandbox(t);
    const inner = (...words: string[]) => ['run', '--', 'lane', ...words, '--', 'echo', 'inner'];
    for (const words of [['run'], ['add', '--wait']]) {
      const { stdout, stderr } = await box.lane(inner(...words));
      assert.match(
        stdout + stderr,
        /Job \d+ would wait for ever: it holds the only slot of lane default/,
        words.join(' '),
      );
    }
    assert.equal((await box.lane(inner('run', '--lane', 'other'))).stdout, 'inner\n');
    assert.equal((await box.json<{ jobs: Job[] }>(['list', '--lane', 'default'])).jobs.length, 3, 'nothing was queued');
    await box.json(['lanes', 'set', 'default', '--slots', '2']);
    assert.equal((await box.lane(inner('run'))).stdout, 'inner\n');
  });

  it('passes output through exactly, and with --split to two streams', async (t) => {
    const box = sandbox(t);
    const bytes = `process.stdout.write(Buffer.from([0xff, 0xfe, 0x0a, 0xc3]))`;
    const exact = await box.lane(['run', '--', 'node', '-e', bytes]);
    assert.deepEqual([...exact.bytes], [0xff, 0xfe, 0x0a, 0xc3]);
    const split = await box.lane(['run', '--split', '-c', 'echo out; echo err >&2']);
    assert.deepEqual([split.stdout, split.stderr], ['out\n', 'err\n']);
    const { job } = await box.json<{ job: Job }>(['run', '-c', 'echo not streamed']);
    assert.equal(job.state, 'done');
    const retried = await box.lane([
      'run',
      '--retries',
      '1',
      '--retry-delay',
      '10ms',
      '-c',
      'echo "attempt $LANEWAY_ATTEMPT"; [ "$LANEWAY_ATTEMPT" = 2 ]',
    ]);
    assert.deepEqual([retried.code, retried.stdout], [0, 'attempt 1\nattempt 2\n'], 'every attempt is shown');
  });

  it('cancels the job on Ctrl-C and exits 130', async (t) => {
    const box = sandbox(t);
    const run = box.startLane(['run', '-c', 'echo up; exec sleep 600']);
    await run.prints('up');
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /cancelling job 1/);
    assert.equal((await jobOf(box, 1)).state, 'canceled');
  });

  it('detaches on a second Ctrl-C', async (t) => {
    const box = sandbox(t);
    const run = box.startLane(['run', '--grace', '5m', '-c', 'trap "" TERM; echo up; sleep 600 & wait; sleep 600']);
    await run.prints('up');
    run.child.kill('SIGINT');
    await waitFor(() => run.stderr().includes('cancelling'), { what: 'the first Ctrl-C to be heard' });
    await waitFor(async () => (await jobOf(box, 1)).cancelRequested, { what: 'the cancel to arrive' });
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    assert.equal(code, 130);
    assert.match(stderr, /goes on/);
    assert.equal((await jobOf(box, 1)).state, 'running', 'within its grace');
    await killJob(box, 1);
  });

  it('only detaches from a job that was there already', async (t) => {
    const box = sandbox(t);
    await box.json(['add', '--key', 'k', '-c', 'echo up; exec sleep 600']);
    const run = box.startLane(['run', '--key', 'k', '-c', 'echo up; exec sleep 600']);
    await run.prints('up');
    run.child.kill('SIGINT');
    const { code, stderr } = await run.ended;
    assert.equal(code, 130, stderr);
    assert.equal((await jobOf(box, 1)).state, 'running');
    await box.json(['cancel', '--wait', '1']);
  });

  it('outlives its server: the job runs again and its output goes on (C05)', async (t) => {
    const box = sandbox(t);
    const run = box.startLane([
      'run',
      '-c',
      'echo "attempt $LANEWAY_ATTEMPT"; [ "$LANEWAY_ATTEMPT" = 2 ] || exec sleep 600',
    ]);
    await run.prints('attempt 1');
    await box.killServer();
    const { code, stdout, stderr } = await run.ended;
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'attempt 1\nattempt 2\n', 'nothing twice, nothing lost');
  });

  it('does not mind that its terminal was closed; the job goes on (C05)', async (t) => {
    const box = sandbox(t);
    const run = box.startLane(['run', '-c', 'echo up; exec sleep 600']);
    await run.prints('up');
    run.child.kill('SIGHUP');
    assert.equal((await run.ended).signal, 'SIGHUP');
    assert.equal((await jobOf(box, 1)).state, 'running');
    await box.json(['cancel', '--wait', '1']);
  });

  it('runs in its own process with --direct', async (t) => {
    const box = sandbox(t);
    const { code, stdout, stderr } = await box.lane(['run', '--direct', '-c', 'echo here; exit 7']);
    assert.deepEqual([code, stdout], [7, 'here\n'], stderr);
    const run = box.startLane(['run', '--direct', '-c', 'echo up; exec sleep 600']);
    await run.prints('up');
    run.child.kill('SIGINT');
    assert.equal((await run.ended).code, 130);
    assert.equal(box.serverPid(), null);
  });
});

/** Ends the group of a job that ignores being asked. */
async function killJob(box: Sandbox, id: number): Promise<void> {
  const { attempts } = await box.json<{ attempts: { pid: number | null }[] }>(['show', String(id)]);
  const pid = attempts.at(-1)?.pid;
  if (pid) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
  await reach(box, id, 'canceled');
}
