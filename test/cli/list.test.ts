/** `lane list`: filters, pages, and what a terminal may be shown. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { addJob as add, type Listed, reach } from './jobs.ts';

describe('lane list', () => {
  it('filters by every word for a state, and pages with a cursor', async (t) => {
    const box = sandbox(t);
    const done = await add(box, '--wait', '--key', 'my key', '--', 'true');
    const dead = await add(box, '--', 'false');
    await reach(box, dead, 'dead');
    const retrying = await add(box, '--retries', '1', '--retry-delay', '1h', '--retry-max-delay', '1h', '--', 'false');
    await waitFor(async () => (await box.json<Listed>(['list', '--state', 'retrying'])).jobs.length === 1);
    const running = await add(box, '--', 'sleep', '600');
    await reach(box, running, 'running');
    const ready = await add(box, '--tag', 'k=v', '--tag', 'l=w', '--', 'true');
    const scheduled = await add(box, '--lane', 'late', '--after', '1h', '--', 'true');
    const blocked = await add(box, '--needs', String(ready), '--', 'true');
    const canceled = await add(box, '--after', '1h', '--', 'true');
    await box.json(['cancel', String(canceled)]);

    const table: [string[], number[]][] = [
      [['--state', 'done'], [done]],
      [['--state', 'succeeded'], [done]],
      [['--state', 'dead'], [dead]],
      [
        ['--state', 'failed'],
        [retrying, dead],
      ],
      [['--state', 'active'], [running]],
      [['--state', 'running'], [running]],
      [['--state', 'canceled'], [canceled]],
      [['--state', 'cancelled'], [canceled]],
      [
        ['--state', 'queued'],
        [scheduled, ready, retrying],
      ],
      [
        ['--state', 'scheduled'],
        [scheduled, retrying],
      ],
      [['--state', 'ready'], [ready]],
      [
        ['--state', 'blocked,active'],
        [blocked, running],
      ],
      [['--lane', 'late'], [scheduled]],
      [['--queue', 'none'], []],
      [['--tag', 'k=v', '--tag', 'l=w'], [ready]],
      [['--tag', 'k=v', '--tag', 'l=x'], []],
      [['--key', 'my key'], [done]],
    ];
    for (const [args, ids] of table) {
      const { jobs } = await box.json<Listed>(['ls', ...args]);
      assert.deepEqual(
        jobs.map(({ id }) => id),
        ids,
        args.join(' '),
      );
    }

    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Listed = await box.json(['list', '--limit', '3', ...(cursor === '' ? [] : ['--cursor', cursor])]);
      assert.ok(page.jobs.length <= 3);
      seen.push(...page.jobs.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    assert.deepEqual(seen, [canceled, blocked, scheduled, ready, running, retrying, dead, done]);
    assert.match(
      (await box.lane(['list', '--limit', '3', '--lane', 'default'])).stdout,
      /lane list --lane default --limit 3 --cursor/,
    );
    await box.json(['cancel', '--all', '--yes', '--wait']);
  });

  it('and show never print control characters raw', async (t) => {
    const box = sandbox(t);
    await add(box, '--after', '1h', '--label', '\u001b[31mred\u0007', '--', 'printf', 'a\nb\u001b]0;x\u0007');
    for (const args of [['list'], ['show', 'last'], ['status'], ['cancel', 'label:\u001b[2J']]) {
      const { stdout, stderr } = await box.lane(args);
      assert.doesNotMatch((stdout + stderr).replaceAll('\n', ''), /\p{Cc}/u, args.join(' '));
    }
    assert.match((await box.lane(['list'])).stdout, /\\e\[31mred\\x07/);
    const forced = await box.lane(['list'], { env: { FORCE_COLOR: '1' } });
    assert.ok(forced.stdout.includes('\u001b[36m◷ scheduled\u001b[39m'));
    const none = await box.lane(['list'], { env: { FORCE_COLOR: '1', NO_COLOR: '1' } });
    assert.ok(!none.stdout.includes('\u001b'));
  });
});
