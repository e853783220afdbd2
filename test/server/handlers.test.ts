/** Every message about jobs, its good answer and its refusals, over both carriers; and rubbish in place of any. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as P from '../../shared/protocol.ts';
import { CALLER, CARRIERS, type Case, inOneWorld, later, refused } from './messages.ts';

const byNumber = (a: number, b: number): number => a - b;

const CASES: Case[] = [
  [
    'add: what was asked for is what runs, with the caller’s environment and none of the server’s (Nukesor/pueue#297)',
    async ({ ask, one, box }) => {
      const argv = ['a b', '', '$HOME', '*', '-x', 'zwölf', 'q"\'', 'new\nline'];
      const job = await one({
        argv: [
          process.execPath,
          '-e',
          'console.log(JSON.stringify([process.argv.slice(1), process.env.FROM_CALLER, process.env.OVER, process.env.LANEWAY_RUNTIME ?? null]))',
          '--',
          ...argv,
        ],
        env: { OVER: 'ridden' },
        label: 'argv',
        tags: { kind: 'test' },
      });
      assert.equal(job.cwd, box.workspace);
      assert.deepEqual(job.envNames.toSorted(), ['FROM_CALLER', 'OVER', 'PATH']);
      await ask(P.Wait, { selection: { ids: [job.id] } });
      const page = await ask(P.Output, { job: 'label:argv' });
      assert.deepEqual(JSON.parse(page.text), [argv, 'yes', 'ridden', null]);
      assert.equal(page.complete, true);
      assert.equal(Buffer.from(page.base64, 'base64').toString(), page.text);
    },
  ],
  [
    'add: refusals name the value, and nothing of the batch is written',
    async ({ ask, add }) => {
      const before = (await ask(P.StatusRequest, null)).counts;
      await refused(add({ argv: [] }), 'INVALID_INPUT', /no command/);
      await refused(add({ argv: ['x'], cwd: '/no/such/folder' }), 'INVALID_INPUT', /"\/no\/such\/folder".*ENOENT/);
      await refused(add({ argv: ['x'], cwd: process.execPath }), 'INVALID_INPUT', /is no folder/);
      await refused(add({ argv: ['x'] }, { argv: ['x'], lane: '-bad' }), 'INVALID_INPUT', /line 2: lane name "-bad"/);
      await refused(add(later({ needs: [999_999] })), 'INVALID_INPUT', /999999/);
      const huge = { caller: { env: { HUGE: 'x'.repeat(3_000_000) }, umask: 0 }, jobs: [{ argv: ['true'] }] };
      await refused(ask(P.Add, huge), 'INVALID_INPUT', /HUGE.*131,?072/s);
      assert.deepEqual((await ask(P.StatusRequest, null)).counts, before);
    },
  ],
  [
    'add: a live key is the same job, or a conflict',
    async ({ ask, add, one }) => {
      const first = await one(later({ key: 'K' }));
      const again = await ask(P.Add, { jobs: [later({ key: 'K' })], caller: CALLER });
      assert.deepEqual([again.jobs[0]?.id, again.deduplicated], [first.id, [first.id]]);
      await refused(add({ argv: ['other'], key: 'K' }), 'KEY_CONFLICT', /K/);
    },
  ],
  [
    'list and show',
    async ({ ask, add, one }) => {
      const jobs = await add(...Array.from({ length: 5 }, (_, i) => later({ lane: 'paging', label: `page ${i}` })));
      const first = await ask(P.List, { lane: 'paging', limit: 3 });
      assert.deepEqual(
        first.jobs.map(({ label }) => label),
        ['page 4', 'page 3', 'page 2'],
      );
      const rest = await ask(P.List, { lane: 'paging', limit: 3, cursor: first.nextCursor });
      assert.deepEqual([rest.jobs.length, rest.nextCursor], [2, null]);
      const ids = [jobs[1]?.id ?? 0, jobs[0]?.id ?? 0];
      assert.equal((await ask(P.List, { ids })).jobs.length, 2);
      await refused(ask(P.List, { limit: 0 }), 'INVALID_INPUT', /limit 0/);
      await refused(ask(P.List, { cursor: 'nonsense' }), 'INVALID_INPUT', /cursor/);
      await refused(ask(P.List, { states: ['odd' as never] }), 'INVALID_INPUT', /"odd"/);

      const dependent = await one(later({ needs: ids, label: 'dependent', env: { SECRET: 's' } }));
      const shown = await ask(P.Show, { job: 'last' });
      assert.deepEqual([shown.job.id, shown.job.state, shown.env], [dependent.id, 'blocked', null]);
      assert.deepEqual(shown.needs.map(({ id }) => id).toSorted(byNumber), ids.toSorted(byNumber));
      assert.equal((await ask(P.Show, { job: ids[0] ?? 0 })).neededBy[0]?.id, dependent.id);
      assert.equal((await ask(P.Show, { job: dependent.id, env: true })).env?.['SECRET'], 's');
      await refused(ask(P.Show, { job: 999_999 }), 'NOT_FOUND', /999999/);
      await refused(ask(P.Show, { job: 'label:nothing' }), 'NOT_FOUND', /nothing/);
      await refused(ask(P.Show, { job: 'what' }), 'INVALID_INPUT', /"what" is no job/);
    },
  ],
  [
    'cancel, retry, rerun, bump: each id has its own result',
    async ({ ask, one, add }) => {
      const waiting = await one(later());
      const done = await one({ argv: ['true'] });
      const dead = await one({ argv: ['sh', '-c', 'exit 3'] });
      await ask(P.Wait, { selection: { ids: [done.id, dead.id] } });
      const canceled = await ask(P.Cancel, { selection: { ids: [waiting.id, done.id, 999_999] } });
      assert.deepEqual(
        canceled.results.map(({ id, state, error }) => [id, state, error?.code ?? null]),
        [
          [waiting.id, 'canceled', null],
          [done.id, 'done', 'CONFLICT'],
          [999_999, null, 'NOT_FOUND'],
        ],
      );
      const retried = await ask(P.Retry, { selection: { ids: [dead.id, done.id] } });
      assert.deepEqual(
        retried.results.map(({ error }) => error?.code ?? null),
        [null, 'CONFLICT'],
      );
      assert.match(retried.results[1]?.error?.hint ?? '', /rerun/);
      const { jobs: after } = await ask(P.Wait, { selection: { ids: [dead.id] } });
      assert.deepEqual([after[0]?.state, after[0]?.attempts, after[0]?.exitCode], ['dead', 2, 3]);

      const rerun = await ask(P.Rerun, { jobs: [done.id, 999_999] });
      assert.deepEqual([rerun.jobs[0]?.rerunOf, rerun.results[1]?.error?.code], [done.id, 'NOT_FOUND']);

      const [low] = await add(later({ lane: 'bumped' }));
      const bumped = await ask(P.Bump, { jobs: [low?.id ?? 0], priority: 9, now: true });
      assert.equal(bumped.results[0]?.error, null);
      const { jobs } = await ask(P.Wait, { selection: { ids: [low?.id ?? 0] } });
      assert.deepEqual([jobs[0]?.state, jobs[0]?.priority], ['done', 9]);
      await refused(ask(P.Bump, { jobs: [done.id] }), 'INVALID_INPUT', /priority/);
      await refused(ask(P.Cancel, { selection: {} }), 'INVALID_INPUT', /no job is chosen/);
    },
  ],
  [
    'cancel --all goes on beyond what one transaction may touch',
    async ({ ask, add }) => {
      await add(later({ lane: 'many' }));
      const jobs = await add(...Array.from({ length: 2500 }, () => later({ lane: 'many' })));
      const { results } = await ask(P.Cancel, { selection: { all: true, lane: 'many' } });
      assert.equal(results.length, jobs.length + 1);
      assert.ok(results.every(({ state, error }) => state === 'canceled' && error === null));
      const ids = results.map(({ id }) => id);
      const again = await ask(P.Cancel, { selection: { ids } });
      assert.equal(again.results.length, ids.length);
      assert.ok(
        again.results.every(({ error }) => error === null),
        'cancelling twice is a success',
      );
      assert.deepEqual((await ask(P.Cancel, { selection: { all: true, lane: 'many' } })).results, []);
    },
  ],
  [
    'wait: any, all, a time-out',
    async ({ ask, add, one }) => {
      const [slow, quick] = await add(later(), { argv: ['true'], lane: 'quick' });
      const ids = [slow?.id ?? 0, quick?.id ?? 0];
      const any = await ask(P.Wait, { selection: { ids }, any: true });
      assert.deepEqual([any.timedOut, any.jobs.map(({ state }) => state)], [false, ['queued', 'done']]);
      const all = await ask(P.Wait, { selection: { ids }, timeoutMs: 30 });
      assert.deepEqual([all.timedOut, all.jobs.length], [true, 2]);
      const waiting = ask(P.Wait, { selection: { ids } });
      await ask(P.Cancel, { selection: { ids: [ids[0] ?? 0] } });
      assert.equal((await waiting).timedOut, false);
      await refused(ask(P.Wait, { selection: { ids: [999_999] } }), 'NOT_FOUND', /999999/);
      const last = await one(later({ lane: 'quick' }));
      const live = ask(P.Wait, { selection: { all: true, lane: 'quick' } });
      await ask(P.Cancel, { selection: { ids: [last.id] } });
      assert.deepEqual(
        (await live).jobs.map(({ id }) => id),
        [last.id],
        'all means what was live at the call',
      );
    },
  ],
  [
    'events and timeline: nothing missed, nothing twice',
    async ({ ask, one }) => {
      const job = await one({ argv: ['true'] });
      await ask(P.Wait, { selection: { ids: [job.id] } });
      const types: string[] = [];
      let since = 0;
      for (;;) {
        const page = await ask(P.Events, { since, job: job.id, limit: 1 });
        if (page.events.length === 0) break;
        types.push(...page.events.map(({ type }) => type));
        since = page.cursor;
      }
      assert.deepEqual(types, ['added', 'claimed', 'succeeded']);
      const { cursor } = await ask(P.Events, { since, waitMs: 0 });
      const waited = ask(P.Events, { since: cursor, job: job.id, waitMs: 40 });
      assert.deepEqual((await waited).events, []);
      const coming = ask(P.Events, { since: cursor, waitMs: 60_000 });
      await one(later());
      assert.equal((await coming).events[0]?.type, 'added');
      const { entries } = await ask(P.Timeline, { job: job.id });
      assert.deepEqual(entries.map(({ kind }) => kind).toSorted(), ['attempt', 'event', 'event', 'event']);
      await refused(ask(P.Events, { since: -1 }), 'INVALID_INPUT', /since/);
    },
  ],
  [
    'output: pages, tails, attempts, streams',
    async ({ ask, one }) => {
      const job = await one({
        argv: ['sh', '-c', 'printf "añb"; printf "err" >&2; exit 1'],
        split: true,
        maxRetries: 1,
        retryDelayMs: 1,
      });
      await ask(P.Wait, { selection: { ids: [job.id] } });
      const page = (more: object): Promise<P.OutputPage> => ask(P.Output, { job: job.id, ...more });
      assert.deepEqual([(await page({ attempt: 1 })).text, (await page({})).attempt], ['añberr', 2]);
      assert.equal((await page({ stream: 'stderr' })).text, 'err');
      assert.equal((await page({ stream: 'stdout', tail: 1 })).text, 'b');
      const inside = await page({ stream: 'stdout', offset: 2 });
      assert.deepEqual([inside.text, inside.offset], ['b', 3], 'a page never begins inside a character');
      assert.equal(
        (await page({ stream: 'stdout', offset: 2, limit: 1, raw: true })).base64,
        Buffer.from([0xb1]).toString('base64'),
      );
      assert.deepEqual([(await page({ tail: 4 })).text, (await page({ offset: 4 })).text], ['berr', 'err']);
      await refused(page({ attempt: 7 }), 'NOT_FOUND', /no attempt 7/);
      await refused(page({ stream: 'both ways' }), 'INVALID_INPUT', /stream/);
      const waiting = await one(later());
      const empty = await ask(P.Output, { job: waiting.id });
      assert.deepEqual([empty.attempt, empty.bytes, empty.complete], [0, 0, false]);
    },
  ],
  [
    'rubbish in place of parameters is an input error everywhere, never an internal one',
    async ({ ask }) => {
      const fromServer = new Set<string>([P.LogGrew.method, P.EventsHint.method, P.Finishing.method, P.Poke.method]);
      const needNothing = new Set<string>(
        [P.StatusRequest, P.Subscribe, P.Unsubscribe, P.Lanes, P.SettingsGet, P.ServerStatus].map(
          ({ method }) => method,
        ),
      );
      for (const { method } of Object.values(P.MESSAGES)) {
        if (fromServer.has(method) || needNothing.has(method)) continue;
        for (const params of [
          'text',
          7,
          [],
          { unheard: 'of' },
          { job: {}, jobs: 'x', selection: 1, name: {}, lanes: {} },
        ]) {
          await refused(ask({ method } as P.RequestType<unknown, unknown>, params), 'INVALID_INPUT', /./);
        }
      }
      await ask(P.Unsubscribe, null);
    },
  ],
];

for (const carrier of CARRIERS)
  describe(`messages over ${carrier}`, () => {
    const world = inOneWorld(carrier);
    for (const [name, run] of CASES) it(name, () => run(world()));
  });
