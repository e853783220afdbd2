/** The verbs that change jobs: choosing, refusing, exit statuses, per-id errors. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe, it } from 'node:test';
import { sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { addJob as add, type Listed, reach, stateOf } from './jobs.ts';

interface Result {
  id: number | string;
  state: string | null;
  error: { code: string; message: string; hint: string | null } | null;
}

describe('verbs over several jobs', () => {
  it('try each, say which failed, and exit 5', async (t) => {
    const box = sandbox(t);
    const done = await add(box, '--wait', '--', 'true');
    const waiting = await add(box, '--after', '1h', '--', 'true');
    for (const verb of ['cancel', 'retry', 'bump']) {
      const more = verb === 'bump' ? ['--priority', '1'] : [];
      const { code, stdout } = await box.lane(['--json', verb, '999', String(done), 'label:none', ...more]);
      assert.equal(code, 5, verb);
      const { results } = JSON.parse(stdout) as { results: Result[] };
      assert.deepEqual(
        results.map(({ id }) => id),
        [999, done, 'label:none'],
        verb,
      );
      assert.deepEqual(
        results.map(({ error }) => error?.code),
        ['NOT_FOUND', 'CONFLICT', 'NOT_FOUND'],
        verb,
      );
      for (const { error } of results) assert.deepEqual(Object.keys(error ?? {}).sort(), ['code', 'hint', 'message']);
    }
    const mixed = await box.lane(['cancel', '999', String(waiting)]);
    assert.equal(mixed.code, 5);
    assert.match(mixed.stdout, new RegExp(`^${waiting} +canceled\n$`));
    assert.match(mixed.stderr, /^lane: job 999 does not exist\n {2}See the jobs there are: lane list\n$/);
    assert.equal((await box.lane(['cancel', String(waiting)])).code, 0, 'once more is success');

    const rerun = await box.lane(['--json', 'rerun', String(done), '999']);
    assert.equal(rerun.code, 5);
    assert.equal((JSON.parse(rerun.stdout) as Listed).jobs.length, 1);
    assert.equal((JSON.parse(rerun.stderr) as { error: { code: string } }).error.code, 'NOT_FOUND');
    assert.equal((await box.lane(['show', '999'])).code, 5);
  });

  it('cancel by filters; running jobs chosen by --all want --yes', async (t) => {
    const box = sandbox(t);
    const running = await add(box, '--grace', '5s', '--', 'sleep', '600');
    await reach(box, running, 'running');
    const queued = await add(box, '--', 'true');
    const tagged = await add(box, '--lane', 'other', '--after', '1h', '--tag', 'k=v', '--', 'true');

    const refused = await box.lane(['--json', 'cancel', '--all']);
    assert.equal(refused.code, 2);
    assert.equal(refused.stdout, '');
    const { error } = JSON.parse(refused.stderr) as { error: Record<string, string> };
    assert.equal(error['code'], 'REFUSED');
    assert.match(error['message'] ?? '', /1 running job/);
    assert.match(error['hint'] ?? '', /--yes/);
    assert.deepEqual([await stateOf(box, running), await stateOf(box, queued)], ['running', 'queued']);

    const byTag = await box.json<{ results: Result[] }>(['cancel', '--all', '--tag', 'k=v']);
    assert.deepEqual(
      byTag.results.map(({ id }) => id),
      [tagged],
    );
    const byState = await box.json<{ results: Result[] }>(['cancel', '--all', '--state', 'queued']);
    assert.deepEqual(
      byState.results.map(({ id }) => id),
      [queued],
    );
    const rest = await box.json<{ results: (Result & { wasRunning: boolean })[] }>([
      'cancel',
      '--all',
      '--yes',
      '--wait',
    ]);
    assert.deepEqual(rest.results, [{ id: running, state: 'canceled', wasRunning: true, error: null }]);
    assert.deepEqual(await box.json(['cancel', '--all']), { results: [] });
  });

  it('retry a dead job with what its death had settled', async (t) => {
    const box = sandbox(t);
    const need = await add(box, '--', 'false');
    const dependent = await add(box, '--needs', String(need), '--', 'true');
    await reach(box, dependent, 'canceled');
    await box.json(['pause', 'default']);
    await box.json(['retry', String(need)]);
    await reach(box, dependent, 'canceled');
    await box.json(['resume', 'default']);
    await reach(box, need, 'dead');
    await box.json(['pause', 'default']);
    assert.deepEqual(await box.json(['retry', String(need), '--with-dependents']), {
      results: [{ id: need, state: 'queued', error: null }],
      revived: [{ id: dependent + 1, state: 'blocked', rerunOf: dependent }],
    });
    await box.json(['resume', 'default']);
    await reach(box, need, 'dead');
    await box.json(['pause', 'default']);
    const { stdout } = await box.lane(['retry', String(need), '--with-dependents']);
    assert.match(stdout, new RegExp(`^${need}  queued\n${dependent + 2}  blocked  rerun of ${dependent + 1}\n$`));
  });

  it('retry --all tells of a dead job that cannot be retried', async (t) => {
    const box = sandbox(t);
    const need = await add(box, '--after', '1h', '--', 'true');
    await box.json(['cancel', String(need)]);
    const dead = await add(box, '--needs', String(need), '--on-need-failure', 'dead', '--', 'true');
    const { code, stderr } = await box.lane(['retry', '--all']);
    assert.equal(code, 5);
    assert.match(stderr, new RegExp(`^lane: job ${dead} cannot be retried: job ${need}, .* was canceled`));
  });

  it('retry all that are dead, run a job afresh by force, and bump', async (t) => {
    const box = sandbox(t);
    const dead = [await add(box, '--lane', 'a', '--', 'false'), await add(box, '--lane', 'b', '--', 'false')];
    for (const id of dead) await reach(box, id, 'dead');
    await box.json(['pause', 'a', 'b']);
    const { results } = await box.json<{ results: Result[] }>(['retry', '--all', '--lane', 'b']);
    assert.deepEqual(results, [{ id: dead[1], state: 'queued', error: null }]);
    const all = await box.json<{ results: Result[] }>(['retry', '--all']);
    assert.deepEqual(
      all.results.map(({ id }) => id),
      [dead[0]],
    );

    const running = await add(box, '--lane', 'c', '--grace', '5s', '--', 'sleep', '600');
    await reach(box, running, 'running');
    assert.equal((await box.lane(['retry', String(running)])).code, 5);
    assert.equal((await box.lane(['retry', String(running), '--force'])).code, 0);
    await waitFor(async () => {
      const { job } = await box.json<{ job: { attempts: number; state: string } }>(['show', String(running)]);
      return job.attempts === 2 && job.state === 'running';
    });
    await box.json(['cancel', String(running), '--wait']);

    const later = await add(box, '--after', '1h', '--', 'true');
    await box.json(['bump', 'last', '--now']);
    await reach(box, later, 'done');
  });
});

describe('bad input', () => {
  it('exits 1 with one clear line, and prints nothing to stdout', async (t) => {
    const box = sandbox(t);
    const table: [string[], RegExp][] = [
      [['show'], /no job is named/],
      [['show', '1', '2'], /takes one job/],
      [['show', 'twelve'], /"twelve" is no job/],
      [['show', '0'], /"0" is no job/],
      [['show', '-1'], /-1/],
      [['show', 'label:'], /label/],
      [['list', 'x'], /takes no argument "x"/],
      [['list', '--state', 'sleeping'], /--state: "sleeping"/],
      [['list', '--limit', '0'], /--limit: "0".* 1 to 1000/],
      [['list', '--limit', '1001'], /1 to 1000/],
      [['list', '--tag', 'x'], /--tag: "x" is not NAME=VALUE/],
      [['list', '--lane', '-x y'], /--lane/],
      [['list', '--cursor', 'nonsense'], /cursor/],
      [['list', '--sate', 'done'], /--sate/],
      [['cancel'], /no job is named/],
      [['cancel', '1', '--all'], /both by id and by --all/],
      [['cancel', 'x\u001b[31m'], /"x\\e\[31m"/],
      [['retry', '--lane', 'a/b', '--all'], /"a\/b"/],
      [['bump', '1'], /nothing to change/],
      [['bump', '1', '--priority', '2147483648'], /-2147483648 to 2147483647/],
      [['bump', '1', '--priority', '1.5'], /"1.5" is no whole number/],
      [['bump', '--now'], /no job is named/],
      [['rerun'], /no job is named/],
      [['pause'], /no lane is named/],
      [['pause', 'a b'], /"a b" is no lane name/],
      [['lanes', 'sett', 'x'], /knows no "sett"/],
      [['lanes', 'set'], /no lane is named/],
      [['lanes', 'set', 'x', '--slots', '0'], /--slots: "0".*1 to 10000/],
      [['lanes', 'set', 'x', '--timeout', '367d'], /--timeout: .*1ms to 366d/],
      [['lanes', 'set', 'x', '--pause-on-failure', 'maybe'], /"maybe" is none of true/],
      [['lanes', 'set', 'x', 'y'], /takes no argument "y"/],
      [['lanes', '--slots', '2'], /no lane to set/],
      [['lanes', 'remove'], /no lane is named/],
      [['prune', '--yes', '--state', 'running'], /"running" is none of done/],
      [['prune', '--yes', '--older-than', 'never'], /--older-than: .*"never"/],
      [['workspaces', 'move', '/a'], /takes two paths/],
      [['workspaces', 'delete', '/a'], /knows no "delete"/],
      [['timeline', '1', '--limit', 'x'], /--limit: "x"/],
      [['completion'], /no shell is named/],
      [['completion', 'tcsh'], /"tcsh" is none of bash/],
      [['doctor', 'deep'], /takes no argument "deep"/],
      [['lsit'], /no verb/],
    ];
    for (const [args, message] of table) {
      const { code, stdout, stderr } = await box.lane(['--json', ...args]);
      const what = `lane ${args.join(' ')}`;
      assert.equal(code, 1, `${what}: ${stderr}`);
      assert.equal(stdout, '', what);
      const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string | null } };
      assert.equal(error.code, 'INVALID_INPUT', what);
      assert.match(error.message, message, what);
      assert.doesNotMatch(`${error.message}${error.hint ?? ''}`, /\p{Cc}/u, what);
    }
    const plain = await box.lane(['show', 'twelve']);
    assert.match(plain.stderr, /^lane: "twelve" is no job\n {2}Give an id/);
  });

  it('is refused where deleting wants a yes: exit 2', async (t) => {
    const box = sandbox(t);
    const id = await add(box, '--wait', '--', 'true');
    for (const args of [['prune'], ['workspaces', 'remove', box.workspace]]) {
      const { code, stdout, stderr } = await box.lane(['--json', ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.equal(stdout, '');
      assert.equal((JSON.parse(stderr) as { error: { code: string } }).error.code, 'REFUSED');
    }
    assert.equal(await stateOf(box, id), 'done');
  });

  it('is told apart from what is not there: exit 5', async (t) => {
    const box = sandbox(t);
    await add(box, '--after', '1h', '--lane', 'full', '--', 'true');
    const table: [string[], string][] = [
      [['show', '7'], 'NOT_FOUND'],
      [['show', 'label:x'], 'NOT_FOUND'],
      [['timeline', '7'], 'NOT_FOUND'],
      [['pause', 'nowhere'], 'NOT_FOUND'],
      [['resume', 'nowhere'], 'NOT_FOUND'],
      [['lanes', 'remove', 'nowhere'], 'NOT_FOUND'],
      [['lanes', 'remove', 'full'], 'CONFLICT'],
      [['workspaces', 'remove', '/nowhere', '--yes'], 'NOT_FOUND'],
    ];
    for (const [args, expected] of table) {
      const { code, stdout, stderr } = await box.lane(['--json', ...args]);
      assert.equal(code, 5, args.join(' '));
      assert.equal(stdout, '');
      assert.equal((JSON.parse(stderr) as { error: { code: string } }).error.code, expected, args.join(' '));
    }
  });
});

describe('workspaces', () => {
  it('move, adopt and remove queues', async (t) => {
    const box = sandbox(t);
    await box.json(['--direct', 'add', '--after', '1h', '--label', 'kept', '--', 'true']);
    const moved = box.makeWorkspace('renamed');
    const answer = await box.json<{ workspaces: { path: string }[] }>(['workspaces', 'move', box.workspace, moved]);
    assert.deepEqual(
      answer.workspaces.map(({ path }) => path),
      [moved],
    );
    const { jobs } = await box.json<Listed>(['--direct', '--workspace', moved, 'list']);
    assert.equal(jobs.length, 1);
    fs.rmSync(moved, { recursive: true });
    const { stdout, stderr } = await box.lane(['workspaces']);
    assert.match(stdout, /missing .*renamed/);
    assert.match(stderr, /workspaces move \S+renamed NEW[^]*workspaces remove \S+renamed/);
    await box.json(['workspaces', 'remove', moved, '--yes']);
    assert.deepEqual(await box.json(['workspaces']), { workspaces: [] });
  });
});
