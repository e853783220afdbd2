/** `lane add`: what reaches the job, what is refused, keys, batches, waiting. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Job } from '../../shared/job.ts';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';

interface Added {
  job: Job;
  deduplicated: boolean;
}
interface Batch {
  jobs: Job[];
  deduplicated: number[];
}

/** Prints its argv and chosen variables as JSON. */
const REPORT = ['node', '-e', 'console.log(JSON.stringify([process.argv.slice(1), process.cwd(), process.env.X]))'];

const add = (box: Sandbox, ...args: string[]): Promise<Added> => box.json<Added>(['add', ...args]);
const errorOf = (stderr: string): { code: string; message: string; hint: string | null } =>
  (JSON.parse(stderr) as { error: { code: string; message: string; hint: string | null } }).error;

describe('lane add', () => {
  it('gives the job its argv, folder and environment exactly (C09)', async (t) => {
    const box = sandbox(t);
    const argv = [
      '',
      ' ',
      'a b',
      '\n',
      '"',
      "'",
      '$HOME',
      '*',
      '-x',
      '--lane',
      '--',
      '\\',
      'ünï 漢 😀',
      '%PATH%',
      '`id`',
    ];
    const sub = path.join(box.workspace, 'sub dir');
    fs.mkdirSync(sub);
    const { job } = await box.json<Added>(['add', '--wait', '--', ...REPORT, '--', ...argv], {
      cwd: sub,
      env: { X: 'from the caller' },
    });
    assert.deepEqual(job.argv, [...REPORT, '--', ...argv]);
    assert.equal(job.state, 'done');
    const { stdout } = await box.lane(['output', String(job.id)]);
    assert.deepEqual(JSON.parse(stdout), [argv, sub, 'from the caller']);

    // Another shell, another environment: the server's own never shows (C11).
    const second = await box.json<Added>(
      ['add', '--wait', '--clean-env', '--env', 'X=flag', '--env', 'EMPTY=', '--', ...REPORT],
      { env: { X: 'from the caller', Y: 'other' } },
    );
    assert.ok(!second.job.envNames.includes('Y'), 'a clean environment');
    assert.match((await box.lane(['output', 'last'])).stdout, /"flag"\]$/m);

    // A name that every object has in some way is a name like any other.
    const odd = Object.fromEntries([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
    await box.json(['add', '--wait', '--', 'env'], { env: odd });
    const { stdout: listed } = await box.lane(['output', 'last']);
    for (const [name, value] of Object.entries(odd)) assert.ok(listed.split('\n').includes(`${name}=${value}`), name);
  });

  it('says in one line what it did, and takes shell text', async (t) => {
    const box = sandbox(t);
    const { stdout, stderr, code } = await box.lane(['add', '--lane', 'build', '-c', 'echo "$X" | tr a-z A-Z'], {
      env: { X: 'piped' },
    });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Job 1 queued in lane build.*\n$/);
    assert.equal(stderr, '');
    await box.lane(['wait', 'last']);
    assert.equal((await box.lane(['output', '1'])).stdout, 'PIPED\n');
    await box.lane(['add', '--wait', '--label', 'broken', '--', 'false']);
    const settled = await box.lane(['add', '--needs', 'label:broken', '--', 'true']);
    assert.equal(settled.stdout, 'Job 3 is canceled already: a job it needs did not succeed\n');
  });

  it('refuses bad input in one clear line and writes nothing', async (t) => {
    const box = sandbox(t);
    const cases: [string[], RegExp][] = [
      [['add'], /no command/],
      [['add', '--'], /no command/],
      [['add', 'make', 'all tests'], /after --\n {2}Put -- before the whole of it: -- make 'all tests'/],
      [['add', '-c', 'x', '--', 'y'], /Both -c/],
      [['add', '-c', ' '], /empty/],
      [['add', '--', ''], /program/],
      [['add', '--lane', '../x', '--', 'true'], /lane/],
      [['add', '--lane', 'x'.repeat(65), '--', 'true'], /lane/],
      [['add', '--priority', 'high', '--', 'true'], /--priority/],
      [['add', '--priority', '2147483648', '--', 'true'], /2147483647/],
      [['add', '--after', '-1s', '--', 'true'], /--after/],
      [['add', '--after', '400d', '--', 'true'], /--after/],
      [['add', '--after', '1s', '--at', '10:00', '--', 'true'], /exclude/],
      [['add', '--at', '25:00', '--', 'true'], /25:00/],
      [['add', '--timeout', '0', '--', 'true'], /--timeout/],
      [['add', '--retries', '-1', '--', 'true'], /--retries/],
      [['add', '--env', 'NOVALUE', '--', 'true'], /--env/],
      [['add', '--tag', 'x', '--', 'true'], /--tag/],
      [['add', '--key', '', '--', 'true'], /key/],
      [['add', '--key', 'k'.repeat(257), '--', 'true'], /256/],
      [['add', '--label', 'l'.repeat(201), '--', 'true'], /200/],
      [['add', '--needs', '12,', '--', 'true'], /--needs/],
      [['add', '--needs', '999', '--', 'true'], /999/],
      [['add', '--on-need-failure', 'retry', '--', 'true'], /--on-need-failure/],
      [['add', '--cwd', 'missing', '--', 'true'], /missing/],
      [['add', '--lnae', 'x', '--', 'true'], /--lnae/],
      [['add', '--from', 'missing.ndjson'], /missing\.ndjson/],
      [['add', '--from', '-', '--', 'true'], /--from/],
      [['add', '--follow', '--from', '-'], /--follow/],
    ];
    for (const [args, message] of cases) {
      const plain = await box.lane(args, { input: '' });
      const what = args.join(' ').slice(0, 80);
      assert.equal(plain.code, 1, `${what}: ${plain.stderr}`);
      assert.equal(plain.stdout, '', what);
      assert.match(plain.stderr, message, what);
      assert.match(plain.stderr, /^lane: [^\n]+\n(?: {2}[^\n]+\n)?$/, `${what}: one line and a hint`);
    }
    const json = await box.lane(['--json', 'add', '--lane', '?', '--', 'true']);
    assert.equal(errorOf(json.stderr).code, 'INVALID_INPUT');
    assert.equal(json.stdout, '');
    assert.deepEqual((await box.json<{ jobs: Job[] }>(['list'])).jobs, []);
  });

  it('refuses 3 MB of environment with the limit named, and the lane goes on (C12)', async (t) => {
    const box = sandbox(t);
    // The system would not start lane with it, so it comes through a batch.
    const many = Object.fromEntries(Array.from({ length: 26 }, (_, n) => [`BIG${n}`, 'x'.repeat(120_000)]));
    for (const env of [{ BIG: 'x'.repeat(3_000_000) }, many]) {
      const input = JSON.stringify({ argv: ['true'], env });
      const refused = await box.lane(['--json', 'add', '--from', '-'], { input });
      assert.equal(refused.code, 1, refused.stderr.slice(0, 500));
      assert.match(errorOf(refused.stderr).message, /[\d,]{6,}/);
      assert.ok(refused.stderr.length < 1000, 'the value itself is not repeated');
    }
    const one = await box.lane([
      'add',
      '--env',
      `A=${'x'.repeat(70_000)}`,
      '--env',
      `B=${'x'.repeat(70_000)}`,
      '--wait',
      '--',
      'true',
    ]);
    assert.equal(one.code, 0, one.stderr);
  });

  it('returns the live job of a key, refuses another payload, and starts over once it has ended', async (t) => {
    const box = sandbox(t);
    const first = await add(box, '--key', 'k', '--after', '1h', '--', 'true');
    const again = await add(box, '--key', 'k', '--', 'true');
    assert.deepEqual([again.job.id, again.deduplicated], [first.job.id, true]);
    const other = await box.lane(['--json', 'add', '--key', 'k', '--', 'false']);
    assert.equal(other.code, 5);
    assert.equal(errorOf(other.stderr).code, 'KEY_CONFLICT');
    await box.json(['cancel', String(first.job.id)]);
    const fresh = await add(box, '--key', 'k', '--wait', '--', 'true');
    assert.equal(fresh.deduplicated, false);
    assert.notEqual(fresh.job.id, first.job.id);
  });

  it('waits with --wait and shows output with --follow: 0 for done, 6 otherwise', async (t) => {
    const box = sandbox(t);
    assert.equal((await box.lane(['add', '--wait', '--', 'true'])).code, 0);
    const failed = await box.lane(['--json', 'add', '--wait', '--', 'sh', '-c', 'exit 3']);
    assert.equal(failed.code, 6);
    const { job } = JSON.parse(failed.stdout) as Added;
    assert.deepEqual([job.state, job.exitCode, job.failureReason], ['dead', 3, 'process_exit']);
    const followed = await box.lane(['add', '--follow', '-c', 'echo out; echo err >&2; exit 1']);
    assert.deepEqual([followed.code, followed.stdout], [6, 'out\nerr\n']);
    const skipped = await box.lane(['--json', 'add', '--needs', String(job.id), '--wait', '--', 'true']);
    assert.equal(skipped.code, 6);
    assert.equal((JSON.parse(skipped.stdout) as Added).job.failureReason, 'dependency');
  });

  it('queues a batch whole or not at all', async (t) => {
    const box = sandbox(t);
    const lines = [
      '{"argv":["sh","-c","echo one"],"label":"first"}',
      '{"command":"echo two","needs":[{"line":1}],"lane":"other"}',
      '{"argv":["true"],"key":"k"}',
      '{"argv":["true"],"key":"k"}',
    ].join('\n');
    const batch = await box.json<Batch>(['add', '--from', '-', '--wait'], { input: `${lines}\n` });
    assert.deepEqual(
      batch.jobs.map(({ state }) => state),
      ['done', 'done', 'done'],
      'the jobs once they have ended, each once',
    );
    assert.deepEqual(batch.jobs[1]?.needs, [batch.jobs[0]?.id]);
    assert.equal(batch.deduplicated.length, 1);

    const file = path.join(box.root, 'jobs.ndjson');
    fs.writeFileSync(file, '{"argv":["true"]}\n{"argv":["true"],"needs":[{"line":2}]}\n');
    for (const [args, input, line] of [
      [['add', '--from', file], undefined, 2],
      [['add', '--from', '-'], '{"argv":["true"]}\n{"argv":["true"]}\n{"argv":["true"],"retires":1}\n', 3],
      [['add', '--from', '-'], '{"argv":["true"]}\n{"argv":["true"],"cwd":"/no/such/folder"}', 2],
    ] as const) {
      const { code, stderr } = await box.lane(args, input === undefined ? {} : { input });
      assert.equal(code, 1);
      assert.match(stderr, new RegExp(`^lane: line ${line}: `, 'i'));
    }
    assert.equal((await box.json<{ jobs: Job[] }>(['list'])).jobs.length, 3, 'nothing of a refused batch');
    fs.writeFileSync(file, '{"argv":["true"]}\n{"argv":["true"]}\n');
    assert.equal((await box.json<Batch>(['add', '--from', file])).jobs.length, 2);
    await box.lane(['wait', '--all']);
    const keyed = '{"argv":["true"],"key":"later","after":"1h"}\n';
    const said = async (): Promise<string> => (await box.lane(['add', '--from', '-'], { input: keyed })).stdout;
    assert.equal(await said(), 'Queued 1 job\n');
    assert.equal(await said(), 'Queued 0 jobs; 1 was there already\n');
  });

  it('works without a server with --direct, and runs the job itself when asked to wait', async (t) => {
    const box = sandbox(t);
    const queued = await box.json<Added>(['add', '--direct', '--', 'true']);
    assert.equal(queued.job.state, 'queued');
    const ended = await box.lane(['--direct', 'add', '--follow', '-c', 'echo in-process']);
    assert.deepEqual([ended.code, ended.stdout], [0, 'in-process\n'], ended.stderr);
    assert.equal(box.serverPid(), null);
  });
});
