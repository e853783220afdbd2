/** What a window knows: lists that follow events, and silence while nobody looks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../helpers/waitFor.ts';
import { LanewayError } from '../../../shared/errors.ts';
import type { JobEvent } from '../../../shared/event.ts';
import type { Job } from '../../../shared/job.ts';
import { Events, Lanes, List, type RequestType, Show } from '../../../shared/protocol.ts';
import { type CacheChange, type Hint, JobCache } from '../../../client/vscode/jobCache.ts';
import {
  fitsQuery,
  hasMore,
  JobLists,
  type ListQuery,
  nextDue,
  PAGE,
  staleAfter,
} from '../../../client/vscode/jobLists.ts';
import { PullPace } from '../../../client/vscode/pace.ts';
import { ago, attempt, counts, job, lane, NOW } from './fixtures.ts';

const running: ListQuery = { states: ['running'], lane: 'default', text: '', order: 'newest' };
const queued: ListQuery = { states: ['queued'], lane: 'default', text: '', order: 'claim' };
const done: ListQuery = { states: ['done'], lane: null, text: '', order: 'newest' };

function event(id: number, jobId: number | null, type: JobEvent['type'], detail = {}): JobEvent {
  return { id, jobId, attempt: null, type, at: ago(0), workerId: null, detail };
}

describe('lists of jobs', () => {
  it('move a job between lists and mention only the lists that changed', () => {
    const lists = new JobLists();
    lists.addPage(lists.list(queued), { jobs: [job(1), job(2)], nextCursor: null }, true);
    lists.addPage(lists.list(running), { jobs: [], nextCursor: null }, true);
    lists.addPage(lists.list(done), { jobs: [], nextCursor: null }, true);
    const change = lists.update([job(1, { state: 'running' })], [1]);
    assert.deepEqual(lists.list(queued).ids, [2]);
    assert.deepEqual(lists.list(running).ids, [1]);
    assert.deepEqual([...change.lists].toSorted(), [lists.list(queued).key, lists.list(running).key].toSorted());
    assert.equal(lists.update([job(1, { state: 'running', attempts: 1 })], [1]).lists.size, 0, 'only its row changed');
  });

  it('keep the order of claims: due by priority, then delayed by time', () => {
    const lists = new JobLists();
    lists.addPage(lists.list(queued), { jobs: [], nextCursor: null }, true);
    lists.update([
      job(5, { phase: 'scheduled', nextRunAt: ago(-9000), priority: 9 }),
      job(4, { phase: 'retrying', nextRunAt: ago(-1000) }),
      job(3),
      job(2),
      job(6, { priority: 1 }),
    ]);
    assert.deepEqual(lists.list(queued).ids, [6, 2, 3, 4, 5]);
  });

  it('insert nothing beyond the loaded part, and forget pruned jobs', () => {
    const lists = new JobLists();
    const page = [30, 20, 10].map((id) => job(id, { state: 'done' }));
    lists.addPage(lists.list(done), { jobs: page, nextCursor: 'c' }, true);
    lists.update([job(25, { state: 'done' }), job(5, { state: 'done' }), job(40, { state: 'done' })]);
    assert.deepEqual(lists.list(done).ids, [40, 30, 25, 20, 10]);
    const change = lists.update([], [20]);
    assert.deepEqual(lists.list(done).ids, [40, 30, 25, 10]);
    assert.ok(change.jobs.has(20));
  });

  it('stay as long as was asked for, however much happens', () => {
    const lists = new JobLists();
    const list = lists.list(done);
    lists.addPage(list, { jobs: [job(1, { state: 'done' })], nextCursor: null }, true);
    let longest = 0;
    for (let id = 2; id <= 5000; id += 10) {
      lists.update(Array.from({ length: 10 }, (_, nth) => job(id + nth, { state: 'done' })));
      longest = Math.max(longest, list.ids.length);
    }
    assert.ok(longest <= 2 * PAGE, `${longest} jobs`);
    assert.equal(list.ids[0], 5001);
    assert.equal(hasMore(list), true, 'the rest is behind "Show more"');
  });

  it('find text in label, command and id, whatever its case', () => {
    const query = { ...queued, text: 'NPM T' };
    assert.ok(fitsQuery(job(1), query));
    assert.ok(!fitsQuery(job(1, { argv: ['make'] }), query));
    assert.ok(fitsQuery(job(77, { argv: ['make'] }), { ...queued, text: '77' }));
  });

  it('take a thousand changed jobs in a moment', () => {
    const lists = new JobLists();
    for (const query of [queued, running, done]) lists.addPage(lists.list(query), { jobs: [], nextCursor: null }, true);
    const rows = Array.from({ length: 1000 }, (_, index) => job(index + 1));
    lists.update(rows);
    const change = lists.update(rows.map((row) => ({ ...row, state: 'done' as const, phase: 'done' as const })));
    assert.equal(change.jobs.size, 1000);
    assert.equal(lists.list(done).ids[0], 1000);
    assert.equal(lists.list(queued).ids.length, 0);
  });
});

describe('events', () => {
  it('name the jobs and lanes to read again', () => {
    const stale = staleAfter([
      event(1, 7, 'added'),
      event(2, 7, 'added'),
      event(3, null, 'lane_changed', { lane: 'web' }),
    ]);
    assert.deepEqual([...stale.jobs], [7]);
    assert.deepEqual([...(stale.lanes ?? [])], ['web']);
    assert.equal(stale.slots, false);
    assert.equal(staleAfter([event(1, 7, 'claimed')]).slots, true);
    assert.equal(staleAfter([event(1, null, 'lane_changed')]).lanes, null);
  });

  it('leave it to the clock when a delayed job becomes due', () => {
    assert.equal(nextDue([job(1), job(2, { phase: 'scheduled', nextRunAt: ago(-500) })], NOW), NOW + 500);
    assert.equal(nextDue([job(1)], NOW), null);
  });
});

it('pulls soon after a change, and twice a second while changes keep coming', () => {
  const pace = new PullPace();
  assert.equal(pace.gap, 100);
  let now = 0;
  let pulls = 0;
  for (; now < 20_000; now += pace.gap) {
    pace.began(now);
    pulls += 1;
  }
  assert.ok(pulls < 50, `${pulls} pulls in 20 s`);
  pace.began(now + 5000);
  assert.equal(pace.gap, 100);
});

describe('the cache', () => {
  function server(): {
    cache: JobCache;
    asked: string[];
    jobs: Map<number, Job>;
    events: JobEvent[];
    changes: CacheChange[];
    vanishing: Set<number>;
  } {
    const asked: string[] = [];
    const jobs = new Map<number, Job>();
    const events: JobEvent[] = [];
    /** Pruned once they were listed. */
    const vanishing = new Set<number>();
    const answer = (method: string, params: unknown): unknown => {
      if (method === Lanes.method) return { lanes: [lane('default')] };
      if (method === Events.method) {
        const { since } = params as { since: number };
        return { events: events.filter(({ id }) => id > since), cursor: events.at(-1)?.id ?? 0 };
      }
      if (method === Show.method) {
        const { job: id } = params as { job: number };
        const found = jobs.get(id);
        if (!found || vanishing.has(id)) throw new LanewayError('NOT_FOUND', `there is no job ${id}`);
        return { job: found, attempts: [attempt(id, 1)], checkpoints: [] };
      }
      const { ids, states, limit } = params as { ids?: number[]; states?: string[]; limit: number };
      const all = [...jobs.values()].toSorted((a, b) => b.id - a.id);
      const found = all.filter(({ id, state }) => (ids ? ids.includes(id) : states?.includes(state)));
      return { jobs: found.slice(0, limit), nextCursor: found.length > limit ? 'next' : null };
    };
    const ask = <P, R>(type: RequestType<P, R>, params: P): Promise<R> => {
      asked.push(type.method);
      return new Promise((resolve) => {
        resolve(answer(type.method, params) as R);
      });
    };
    const cache = new JobCache(ask, (error) => assert.fail(String(error)));
    const changes: CacheChange[] = [];
    cache.onDidChange((change) => changes.push(change));
    return { cache, asked, jobs, events, changes, vanishing };
  }
  const hint = (cursor: number, more = {}): Hint => ({
    cursor,
    counts: counts(more),
    scheduled: 0,
    retrying: 0,
    trouble: null,
  });

  it('asks for nothing while nobody looks, and still knows the counts', async () => {
    const { cache, asked } = server();
    cache.connected(hint(1), true);
    for (let cursor = 2; cursor < 500; cursor++) cache.takeHint(hint(cursor, { running: 3 }));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    assert.deepEqual(asked, []);
    assert.equal(cache.counts?.running, 3);
    cache.dispose();
  });

  it('pulls what a hint announces and tells exactly what changed', async () => {
    const { cache, asked, jobs, events, changes } = server();
    jobs.set(1, job(1));
    cache.connected(hint(1), true);
    await cache.load(queued);
    await cache.load(running);
    await cache.loadLanes();
    cache.watch({}, true);
    changes.length = 0;
    jobs.set(1, job(1, { state: 'running' }));
    events.push(event(2, 1, 'claimed'));
    cache.takeHint(hint(2));
    await waitFor(() => changes.length > 0);
    assert.deepEqual([...(changes[0]?.jobs ?? [])], [1]);
    assert.equal(changes[0]?.all, false);
    assert.deepEqual(
      cache.rows(cache.list(running)).map(({ id }) => id),
      [1],
    );
    assert.equal(cache.cursor, 2);
    assert.ok(asked.filter((method) => method === List.method).length <= 3);
    cache.dispose();
  });

  it('goes on when a job is pruned between two questions', async () => {
    const { cache, jobs, events, vanishing } = server();
    for (let id = 1; id <= 50; id += 1) jobs.set(id, job(id));
    cache.connected(hint(1), true);
    await cache.load(queued);
    assert.equal((await cache.loadDetail(1)).attempts.length, 1);
    cache.watch({}, true);
    vanishing.add(1);
    jobs.set(1, job(1, { state: 'running' }));
    events.push(event(2, 1, 'claimed'));
    cache.takeHint(hint(2));
    await waitFor(() => cache.cursor === 2);
    assert.equal(cache.detail(1), undefined);
    jobs.clear();
    events.push(event(3, 1, 'pruned'), event(4, 2, 'pruned'));
    cache.takeHint(hint(4));
    await waitFor(() => cache.cursor === 4);
    assert.equal(cache.job(1), undefined);
    assert.equal(cache.rows(cache.list(queued)).length, 48, 'and nothing else is forgotten');
    cache.dispose();
  });

  it('folds a burst of hints into few pulls', async () => {
    const { cache, asked, jobs, events } = server();
    cache.connected(hint(1), true);
    await cache.load(queued);
    cache.watch({}, true);
    for (let id = 2; id < 202; id++) {
      jobs.set(id, job(id));
      events.push(event(id, id, 'added'));
      cache.takeHint(hint(id));
    }
    await waitFor(() => cache.cursor === 201);
    assert.ok(asked.filter((method) => method === Events.method).length <= 2);
    assert.equal(cache.list(queued).ids.length, 50, 'a page of them, as when opened anew');
    assert.equal(hasMore(cache.list(queued)), true);
    await cache.more(queued);
    assert.equal(cache.list(queued).ids.length, 100);
    cache.dispose();
  });

  it('fills a list up again whose jobs left one by one', async () => {
    const { cache, asked, jobs, events } = server();
    for (let id = 1; id <= 200; id++) jobs.set(id, job(id));
    cache.connected(hint(1), true);
    await cache.load(queued);
    assert.equal(cache.list(queued).ids.length, 50);
    cache.watch({}, true);
    for (let id = 151; id <= 180; id++) {
      jobs.set(id, job(id, { state: 'done' }));
      events.push(event(id, id, 'succeeded'));
    }
    asked.length = 0;
    cache.takeHint(hint(180));
    await waitFor(() => cache.cursor === 180);
    assert.equal(cache.list(queued).ids.length, 50);
    assert.deepEqual(asked, [Events.method, List.method, List.method], 'what changed, and one page');
    cache.dispose();
  });

  it('tells of the first hint at once, and of the last of many', async () => {
    const { cache } = server();
    const told: number[] = [];
    cache.onDidHint(({ cursor }) => told.push(cursor));
    for (let cursor = 1; cursor <= 500; cursor++) cache.takeHint(hint(cursor));
    await waitFor(() => told.includes(500));
    assert.deepEqual(told, [1, 500]);
    cache.dispose();
  });

  it('loads anew when it is far behind or the database is another one', async () => {
    const { cache, asked, jobs, changes } = server();
    jobs.set(1, job(1));
    cache.connected(hint(1), true);
    await cache.load(queued);
    cache.watch({}, true);
    changes.length = 0;
    cache.takeHint(hint(100_000));
    await waitFor(() => changes.some(({ all }) => all));
    assert.ok(!asked.includes(Events.method));
    assert.equal(cache.list(queued).loaded, false);
    changes.length = 0;
    cache.connected(hint(3), true);
    assert.ok(changes.some(({ all }) => all));
    assert.equal(cache.cursor, 3, 'a cursor of another database means nothing');
    cache.dispose();
  });
});
