/** What waits or stays: `lane wait`, `lane events`, `lane work`, `lane server`. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { JobEvent } from '../../shared/event.ts';
import type { Job, Server } from '../../shared/job.ts';
import { isAlive } from '../helpers/processes.ts';
import { dist, type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const add = async (box: Sandbox, ...args: string[]): Promise<Job> =>
  (await box.json<{ job: Job }>(['add', ...args])).job;
const stateOf = async (box: Sandbox, id: number, ...flags: string[]): Promise<string> =>
  (await box.json<{ job: Job }>(['show', ...flags, String(id)])).job.state;
/** Shell text that ends once the file exists. */
const until = (file: string, then = ''): string => `while [ ! -e '${file}' ]; do sleep 0.05; done; ${then}`;

describe('lane wait', () => {
  it('waits for all or any, and exits 0, 6 or 4', async (t) => {
    const box = sandbox(t);
    const gate = path.join(box.root, 'gate');
    await add(box, '--label', 'slow', '--lane', 'a', '-c', until(gate));
    await add(box, '--lane', 'b', '--', 'true');
    const any = JSON.parse((await box.lane(['--json', 'wait', '--any', '1', '2'])).stdout) as { jobs: Job[] };
    assert.deepEqual(
      any.jobs.map(({ state }) => state),
      ['running', 'done'],
    );
    const late = await box.lane(['--json', 'wait', '--timeout', '50ms', 'label:slow']);
    assert.equal(late.code, 4);
    const { jobs, timedOut } = JSON.parse(late.stdout) as { jobs: Job[]; timedOut: boolean };
    assert.deepEqual([jobs.map(({ id }) => id), timedOut], [[1], true]);

    const all = box.startLane(['wait', '--all', '--lane', 'a']);
    await waitFor(() => all.stderr().includes('runs'), { what: 'progress in plain lines' });
    fs.writeFileSync(gate, '');
    assert.deepEqual([(await all.ended).code, all.stdout()], [0, 'Job 1 is done\n']);

    await add(box, '--', 'false');
    assert.equal((await box.lane(['wait', 'last'])).code, 6);
    const nothing = await box.lane(['wait', '--all']);
    assert.deepEqual([nothing.code, nothing.stdout], [0, '']);
    assert.match(nothing.stderr, /^Nothing to wait for/);
    for (const [args, code] of [
      [['wait'], 1],
      [['wait', '--lane', 'a'], 1],
      [['wait', '--all', '1'], 1],
      [['wait', '99'], 5],
    ] as const)
      assert.equal((await box.lane(args)).code, code, args.join(' '));
  });

  it('goes on when the server is killed or stopped under it, and ends with 130 on Ctrl-C', async (t) => {
    const box = sandbox(t);
    const gate = path.join(box.root, 'gate');
    await add(box, '--crashes', '5', '-c', until(gate));
    const wait = box.startLane(['wait', 'last']);
    await waitFor(() => wait.stderr().includes('runs'), { what: 'the wait to stand' });
    await box.killServer();
    await waitFor(() => box.serverPid(), { what: 'the waiting client to start another server' });
    const interrupted = box.startLane(['wait', '1']);
    await waitFor(() => interrupted.stderr().includes('Job 1'), { what: 'the second wait to stand' });
    interrupted.child.kill('SIGINT');
    assert.equal((await interrupted.ended).code, 130);
    fs.writeFileSync(gate, '');
    assert.equal((await wait.ended).code, 0, wait.stderr());
  });
});

describe('lane events', () => {
  it('pages, filters, waits and follows without a gap', async (t) => {
    const box = sandbox(t);
    await add(box, '--wait', '--', 'true');
    await add(box, '--wait', '--lane', 'other', '--', 'true');
    const all = await box.json<{ events: JobEvent[]; cursor: number }>(['events']);
    const ids = all.events.map(({ id }) => id);
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => a - b),
    );
    const paged: number[] = [];
    for (let since = 0; ;) {
      const page = await box.json<{ events: JobEvent[]; cursor: number }>([
        'events',
        '--since',
        String(since),
        '--limit',
        '3',
      ]);
      if (page.events.length === 0) break;
      paged.push(...page.events.map(({ id }) => id));
      since = page.cursor;
    }
    assert.deepEqual(paged, ids);
    const one = await box.json<{ events: JobEvent[] }>(['events', '--job', '1']);
    assert.deepEqual(
      one.events.map(({ type }) => type),
      ['added', 'claimed', 'succeeded'],
    );
    const none = await box.json<{ events: JobEvent[] }>(['events', '--since', String(all.cursor), '--wait', '10ms']);
    assert.deepEqual(none.events, []);

    const follow = box.startLane(['--json', 'events', '-f', '--since', String(all.cursor)]);
    const next = box.startLane(['--json', 'events', '--since', String(all.cursor), '--wait', '60s']);
    await add(box, '--wait', '--', 'true');
    await follow.prints('succeeded');
    await box.killServer();
    await box.lane(['add', '--wait', '--', 'false']);
    await follow.prints('"dead"');
    follow.child.kill('SIGINT');
    assert.equal((await follow.ended).code, 130);
    const types = follow
      .stdout()
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as JobEvent).type);
    assert.deepEqual(types, ['added', 'claimed', 'succeeded', 'added', 'claimed', 'failed', 'dead']);
    const first = JSON.parse((await next.ended).stdout) as { events: JobEvent[] };
    assert.equal(first.events[0]?.type, 'added');
  });
});

describe('lane work', () => {
  it('runs jobs without a server: once, drained, by lane, idle', async (t) => {
    const box = sandbox(t);
    const direct = (...args: string[]): Promise<unknown> => box.json(['add', '--direct', ...args]);
    for (const lane of ['a', 'a', 'b']) await direct('--lane', lane, '--', 'true');
    await direct('--lane', 'a', '--retries', '1', '--retry-delay', '10ms', '-c', '[ $LANEWAY_ATTEMPT = 2 ]');
    const once = await box.lane(['--json', 'work', '--once', '--lane', 'b']);
    assert.equal(once.code, 0, once.stderr);
    const line = JSON.parse(once.stdout) as Record<string, unknown>;
    assert.deepEqual(Object.keys(line).sort(), ['attempt', 'durationMs', 'exitCode', 'jobId', 'jobState', 'state']);
    assert.deepEqual(
      [line['jobId'], line['attempt'], line['state'], line['exitCode'], line['jobState']],
      [3, 1, 'succeeded', 0, 'done'],
    );
    const drained = await box.lane(['work', '--drain']);
    assert.equal(drained.code, 0, drained.stderr);
    assert.match(
      drained.stdout,
      /Job 4 attempt 1 failed, exit 1 .*waits to run again\n(?:.*\n)*Job 4 attempt 2 succeeded/,
    );
    assert.equal((await box.lane(['work', '--idle-timeout', '50ms'])).code, 0);
    assert.equal(box.serverPid(), null);
    assert.equal((await box.lane(['work', 'lane'])).code, 1);
  });

  it('drains on the first signal and stops its jobs on the second', async (t) => {
    const box = sandbox(t);
    const gate = path.join(box.root, 'gate');
    await box.json(['add', '--direct', '-c', `echo up; ${until(gate)}`]);
    const work = box.startLane(['work']);
    await waitFor(async () => (await stateOf(box, 1, '--direct')) === 'running', { what: 'the job to run' });
    await box.json(['add', '--direct', '--', 'true']);
    work.child.kill('SIGINT');
    await waitFor(() => work.stderr().includes('no more jobs'), { what: 'the drain to begin' });
    fs.writeFileSync(gate, '');
    assert.equal((await work.ended).code, 0, work.stderr());
    assert.equal(await stateOf(box, 1, '--direct'), 'done');
    assert.equal(await stateOf(box, 2, '--direct'), 'queued');

    await box.json(['cancel', '--direct', '2']);
    await box.json(['add', '--direct', '-c', 'exec sleep 600']);
    const stubborn = box.startLane(['work']);
    await waitFor(async () => (await stateOf(box, 3, '--direct')) === 'running', { what: 'the job to run' });
    stubborn.child.kill('SIGTERM');
    await waitFor(() => stubborn.stderr().includes('no more jobs'), { what: 'the drain to begin' });
    stubborn.child.kill('SIGTERM');
    assert.equal((await stubborn.ended).signal, null);
    assert.equal(await stateOf(box, 3, '--direct'), 'queued', 'stopped, to run again');
    await box.json(['cancel', '--direct', '3']);
  });
});

describe('lane work that nobody watches any more', () => {
  it('lets its jobs finish when the terminal was closed, which is told twice, and when nobody reads what it says', async (t) => {
    for (const signals of [['SIGHUP', 'SIGHUP'], ['SIGINT']] as const) {
      const box = sandbox(t);
      const gate = path.join(box.root, 'gate');
      await box.json(['add', '--direct', '-c', until(gate)]);
      const work = box.startLane(['work']);
      await waitFor(async () => (await stateOf(box, 1, '--direct')) === 'running', { what: 'the job to run' });
      work.child.stdout?.destroy();
      work.child.stderr?.destroy();
      for (const signal of signals) work.child.kill(signal);
      await box.json(['add', '--direct', '--', 'true']);
      fs.writeFileSync(gate, '');
      assert.deepEqual(await once(work.child, 'exit'), [0, null]);
      assert.equal(await stateOf(box, 1, '--direct'), 'done');
      assert.equal(await stateOf(box, 2, '--direct'), 'queued');
      await box.json(['cancel', '--direct', '2']);
    }
  });
});

describe('lane server', () => {
  it('starts, tells of itself, restarts and stops', async (t) => {
    const box = sandbox(t);
    const status = (...args: string[]): Promise<Server> => box.json<Server>(['server', ...args]);
    const off = await status('status');
    assert.deepEqual([off.running, off.pid, off.database], [false, null, box.paths().database]);
    assert.ok(!fs.existsSync(box.paths().home), 'asking leaves nothing behind');
    const on = await status('start');
    assert.ok(on.running && on.pid !== null && isAlive(on.pid));
    assert.equal((await status('start')).pid, on.pid);
    const again = await status('restart');
    assert.ok(again.running && again.pid !== on.pid && !isAlive(on.pid));
    await add(box, '-c', 'exec sleep 600');
    await waitFor(async () => (await stateOf(box, 1)) === 'running', { what: 'the job to run' });
    assert.equal((await status('stop', '--force')).running, false);
    assert.equal(await stateOf(box, 1, '--direct'), 'queued', 'a stopped job waits to run again');
    assert.equal((await status('stop')).running, false, 'nothing to stop is fine');
    await box.json(['cancel', '--direct', '1']);
    const { pid } = await status('start');
    assert.match(
      (await box.lane(['server', 'stop'])).stdout,
      new RegExp(`^Stopped the server for .* \\(pid ${pid}\\)\n$`),
    );
    assert.match((await box.lane(['server', 'stop'])).stdout, /^No server runs for /);
    assert.match((await box.lane(['server', 'logs'])).stdout, /starts for/);
    for (const args of [['server'], ['server', 'strat'], ['server', 'start', 'now'], ['server', 'status', '--force']]) {
      assert.equal((await box.lane(args)).code, 1, args.join(' '));
    }
    assert.match((await box.lane(['server', 'strat'])).stderr, /Did you mean start\?/);
  });

  it('is ended by --force also when it does not answer, and the next one takes up its jobs', async (t) => {
    const box = sandbox(t);
    const { id } = await add(box, '--', 'sleep', '600');
    await waitFor(() => stateOf(box, id).then((state) => state === 'running'), { what: 'the job to run' });
    const pid = box.serverPid();
    assert.ok(pid);
    process.kill(pid, 'SIGSTOP');
    t.after(() => isAlive(pid) && process.kill(pid, 'SIGKILL'));
    const stopped = await box.lane(['server', 'stop', '--force']);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.match(stopped.stderr, /does not answer: ending its process/);
    assert.match(stopped.stdout, new RegExp(`pid ${pid}`));
    assert.equal(isAlive(pid), false);
    await waitFor(() => box.json<{ job: Job }>(['show', String(id)]).then(({ job }) => job.crashes === 1), {
      what: 'the next server to take the job up',
    });
    await box.json(['cancel', String(id)]);
  });

  it('is replaced when it was killed, stale socket and all (C05)', async (t) => {
    const box = sandbox(t);
    await add(box, '--wait', '--', 'true');
    await box.killServer();
    assert.ok(fs.existsSync(box.paths().socket), 'the stale socket lies there');
    assert.equal((await add(box, '--wait', '--', 'true')).state, 'done');
  });

  it('says why it does not start, what to do, and where its log is', async (t) => {
    const box = sandbox(t);
    await add(box, '--wait', '--', 'true');
    await box.lane(['server', 'stop']);
    execFileSync(process.execPath, [
      '-e',
      `const D = require(${JSON.stringify(path.resolve(dist, '../node_modules/better-sqlite3'))}); const d = new D(process.argv[1]); d.pragma('user_version = 9999'); try { d.exec("UPDATE meta SET value = '9999' WHERE key LIKE '%schema%'"); } catch {}`,
      box.paths().database,
    ]);
    const { code, stderr } = await box.lane(['--json', 'list']);
    assert.equal(code, 3, stderr);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string } };
    assert.equal(error.code, 'SCHEMA_NEWER');
    assert.ok(error.hint.includes(box.paths().serverLog) && error.hint.includes('update Laneway'), error.hint);
  });
});
