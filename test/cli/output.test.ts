/** `lane output`: pages, tails, following, bytes that are no text, and readers that leave. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Job } from '../../shared/job.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

interface Page {
  jobId: number;
  attempt: number;
  stream: string;
  text: string;
  base64: string;
  bytes: number;
  offset: number;
  complete: boolean;
}
async function ran(box: Sandbox, ...args: string[]): Promise<Job> {
  const result = await box.lane(['--json', 'add', '--wait', ...args]);
  return (JSON.parse(result.stdout) as { job: Job }).job;
}

describe('lane output', () => {
  it('prints a page, a tail, a range, an attempt, a stream', async (t) => {
    const box = sandbox(t);
    await ran(box, '-c', 'printf 0123456789');
    const cases: [string[], string][] = [
      [[], '0123456789'],
      [['--tail', '3'], '789'],
      [['--tail', '100'], '0123456789'],
      [['--offset', '4'], '456789'],
      [['--offset', '4', '--limit', '2'], '45'],
      [['--limit', '0'], ''],
      [['--offset', '10'], ''],
    ];
    for (const [flags, expected] of cases) {
      const { code, stdout, stderr } = await box.lane(['output', ...flags, '1']);
      assert.deepEqual([code, stdout], [0, expected], `${flags.join(' ')} ${stderr}`);
    }
    const page = await box.json<Page>(['output', '--offset', '2', '--limit', '3', 'last']);
    assert.deepEqual(page, {
      jobId: 1,
      attempt: 1,
      stream: 'both',
      text: '234',
      base64: Buffer.from('234').toString('base64'),
      bytes: 3,
      offset: 2,
      complete: false,
    });
    assert.equal((await box.json<Page>(['output', '1'])).complete, true);

    await ran(box, '--split', '--label', 'two', '-c', 'echo out; echo err >&2');
    assert.equal((await box.lane(['output', '--stream', 'stderr', 'label:two'])).stdout, 'err\n');
    assert.equal((await box.lane(['logs', '--stream', 'stdout', 'label:two'])).stdout, 'out\n');

    await ran(box, '--retries', '1', '--retry-delay', '1ms', '-c', 'echo $LANEWAY_ATTEMPT; exit 1');
    assert.equal((await box.lane(['output', '--attempt', '1', '3'])).stdout, '1\n');
    assert.equal((await box.lane(['output', '3'])).stdout, '2\n');
  });

  it('says of a job that has not started why it waits', async (t) => {
    const box = sandbox(t);
    await box.json(['add', '--after', '1h', '--', 'true']);
    const { code, stdout, stderr } = await box.lane(['output', '1']);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^lane: job 1 has not started: due at 2/);
    await box.json(['cancel', '1']);
    assert.match((await box.lane(['output', '1'])).stderr, /^lane: job 1 has not started: it is canceled/);
  });

  it('refuses what makes no sense', async (t) => {
    const box = sandbox(t);
    await ran(box, '--', 'true');
    const cases: [string[], number][] = [
      [['output'], 1],
      [['output', '1', '1'], 1],
      [['output', 'nonsense'], 1],
      [['output', '--tail', '1', '--offset', '1', '1'], 1],
      [['output', '--stream', 'stdin', '1'], 1],
      [['output', '--json', '--limit', '999999999', '1'], 1],
      [['output', '99'], 5],
      [['output', '--attempt', '9', '1'], 5],
      [['output', 'label:none'], 5],
    ];
    for (const [args, expected] of cases) {
      const { code, stdout, stderr } = await box.lane(args);
      assert.deepEqual([code, stdout], [expected, ''], `${args.join(' ')}: ${stderr}`);
    }
  });

  it('keeps bytes that are no UTF-8 exactly, and its JSON valid (C16)', async (t) => {
    const box = sandbox(t);
    const file = path.join(box.root, 'bytes');
    // GBK for "中文", bytes no encoding has, and a character that a page's end falls into.
    const bytes = Buffer.concat([Buffer.from([0xd6, 0xd0, 0xce, 0xc4, 0xff, 0x00]), Buffer.from('é漢😀\n')]);
    fs.writeFileSync(file, bytes);
    await ran(box, '--', 'cat', file);
    assert.deepEqual((await box.lane(['output', '--raw', '1'])).bytes, bytes);
    const shown = await box.lane(['output', '1']);
    assert.ok(shown.stdout.includes('\ufffd') && shown.stdout.endsWith('é漢😀\n'));
    const page = await box.json<Page>(['output', '1']);
    assert.deepEqual(Buffer.from(page.base64, 'base64'), bytes);
    const cut = await box.json<Page>(['output', '--limit', '7', '1']);
    assert.equal(cut.bytes, 6, 'the é is left to the next page whole');
  });

  it('follows across attempts until the job has ended, through long lines (C15)', async (t) => {
    const box = sandbox(t);
    const gate = path.join(box.root, 'gate');
    const script = `echo start; [ $LANEWAY_ATTEMPT = 2 ] && exit 0; while [ ! -e '${gate}' ]; do sleep 0.05; done; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo after; exit 1`;
    await box.json(['add', '--retries', '1', '--retry-delay', '1ms', '-c', script]);
    const follow = box.startLane(['output', '-f', 'last']);
    await follow.prints('start');
    fs.writeFileSync(gate, '');
    const { code, stdout } = await follow.ended;
    assert.equal(code, 0);
    assert.equal(stdout, `start\n${'x'.repeat(1_000_000)}\nafter\nstart\n`);
    const lines = await box.lane(['output', '-f', '--json', '--attempt', '2', '1']);
    const pages = lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Page);
    assert.equal(pages.map(({ text }) => text).join(''), 'start\n');
  });

  it('passes a large log through little memory (C14)', async (t) => {
    const box = sandbox(t);
    const size = 64 * 1024 * 1024;
    await ran(box, '-c', `yes 0123456789abcdef | head -c ${size}`);
    const child = spawn(
      process.execPath,
      ['--max-old-space-size=64', path.join(dist, 'cli.js'), 'output', '--raw', '1'],
      {
        cwd: box.workspace,
        env: box.env,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let seen = 0;
    let peak = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      seen += chunk.length;
      if (process.platform === 'linux') peak = Math.max(peak, residentMiB(child.pid ?? 0));
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, seen], [0, size]);
    assert.ok(peak < 250, `lane held ${peak} MiB`);
  });

  it('says that what it writes to is full', { skip: !fs.existsSync('/dev/full') && 'no /dev/full here' }, async (t) => {
    const box = sandbox(t);
    const full = fs.openSync('/dev/full', 'w');
    t.after(() => fs.closeSync(full));
    await box.json(['add', '--', 'true']);
    const options = { cwd: box.workspace, env: box.env, encoding: 'utf8' } as const;
    const run = spawnSync(process.execPath, [path.join(dist, 'cli.js'), 'list'], {
      ...options,
      stdio: ['ignore', full, 'pipe'],
    });
    assert.equal(run.status, 3);
    assert.match(run.stderr, /^lane: stdout cannot be written: the disk is full .*\n {2}Free some space/);
  });

  it('ends quietly when its reader leaves', async (t) => {
    const box = sandbox(t);
    await ran(box, '-c', 'head -c 3000000 /dev/zero');
    for (const args of [
      ['output', '1'],
      ['output', '-f', '1'],
    ]) {
      const run = box.startLane(args);
      run.child.stdout?.once('data', () => run.child.stdout?.destroy());
      const { code, signal, stderr } = await run.ended;
      assert.deepEqual([code, signal, stderr], [0, null, ''], args.join(' '));
    }
    await box.json(['add', '-c', 'while :; do echo more; sleep 0.05; done']);
    const events = box.startLane(['events', '-f', '--since', '0']);
    await events.prints('claimed');
    events.child.stdout?.destroy();
    await box.json(['cancel', '--all', '--yes', '--wait']);
    await waitFor(() => events.child.exitCode !== null, { what: 'lane events to end' });
    assert.deepEqual([(await events.ended).code, events.stderr()], [0, '']);
  });
});

function residentMiB(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
