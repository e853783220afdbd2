/**
 * Random lives: whatever is added, claimed, finished, cancelled, retried, reaped, bumped, paused
 * and pruned, in whatever order, every invariant of `doctor --deep` holds after every step, and
 * the kept counts are what the lists show.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { AttemptEnd, Owner, Store } from '../../server/store/api.ts';
import * as queries from '../../server/store/queries/index.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import { LanewayError } from '../../shared/errors.ts';
import { TERMINAL_STATES } from '../../shared/job.ts';
import { CALLER, end, job, openTemp, registration } from './support.ts';
import type { FakeClock } from './support.ts';

/** One step of a random life. Numbers are taken modulo what there is to choose from. */
type Step =
  | {
      do: 'add';
      lane: string;
      priority: number;
      afterMs: number | null;
      retries: number;
      need: number | null;
      policy: 0 | 1 | 2;
      key: string | null;
    }
  | { do: 'claim'; limit: number; worker: 0 | 1 }
  | { do: 'finish'; pick: number; kind: AttemptEnd['kind']; exitCode: number }
  | { do: 'reap' | 'sleep'; pick: number }
  | { do: 'cancel' | 'rerun'; pick: number }
  | { do: 'retry'; pick: number; force: boolean; withDependents: boolean }
  | { do: 'bump'; pick: number; priority: number | null; now: boolean }
  | { do: 'pause' | 'resume'; lane: string }
  | { do: 'slots'; lane: string; slots: number }
  | { do: 'advance'; ms: number }
  | { do: 'prune'; maxJobs: number };

const lane = fc.constantFrom('a', 'b', 'c');
const pick = fc.nat(50);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      lane,
      priority: fc.integer({ min: -2, max: 2 }),
      afterMs: fc.option(fc.integer({ min: 1, max: 20_000 }), { freq: 3 }),
      retries: fc.nat(2),
      need: fc.option(pick),
      policy: fc.constantFrom(0 as const, 1 as const, 2 as const),
      key: fc.option(fc.constantFrom('k1', 'k2'), { freq: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      worker: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      pick,
      kind: fc.constantFrom(
        'exited',
        'exited',
        'exited',
        'timed_out',
        'log_limit',
        'spawn_failed',
        'machine_trouble',
        'stopped',
      ),
      exitCode: fc.constantFrom(0, 0, 1),
    }),
  },
  fc.record({ do: fc.constantFrom('reap' as const, 'sleep' as const), pick }),
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'rerun' as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('retry' as const),
      pick,
      force: fc.boolean(),
      withDependents: fc.boolean(),
    }),
  },
  fc.record({
    do: fc.constant('bump' as const),
    pick,
    priority: fc.option(fc.integer({ min: -3, max: 3 })),
    now: fc.boolean(),
  }),
  fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const), lane }),
  fc.record({ do: fc.constant('slots' as const), lane, slots: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 70_000 }) }),
  fc.record({ do: fc.constant('prune' as const), maxJobs: fc.integer({ min: 1, max: 3 }) }),
);

const WORKERS = ['w0', 'w1'];
const POLICIES = ['cancel', 'dead', 'release'] as const;

/** What a person may be told instead of a change; anything else thrown is a fault. */
const REFUSALS = new Set(['CONFLICT', 'KEY_CONFLICT', 'NOT_FOUND', 'INVALID_INPUT']);

async function take(store: Store, clock: FakeClock, next: Step): Promise<void> {
  const ids = store.read(({ db }) => db.prepare<[], number>('SELECT id FROM jobs ORDER BY id').pluck().all());
  const chosen = (from: number): number => ids[from % ids.length] ?? 0;
  const running = store.read((r) => queries.runningAttempts(r));
  const owner = (from: number): Owner | undefined => running[from % Math.max(1, running.length)];
  await store
    .write((tx) => {
      switch (next.do) {
        case 'add': {
          const needs = next.need !== null && ids.length > 0 ? [chosen(next.need)] : [];
          const { lane, priority, afterMs, key } = next;
          const onNeedFailure = POLICIES[next.policy];
          return transitions.add(
            tx,
            [job({ lane, priority, afterMs, key, needs, onNeedFailure, maxRetries: next.retries })],
            CALLER,
          );
        }
        case 'claim':
          return transitions.claim(tx, {
            workerId: WORKERS[next.worker] ?? '',
            lanes: null,
            slots: null,
            limit: next.limit,
          });
        case 'finish': {
          const whose = owner(next.pick);
          return (
            whose && transitions.finish(tx, whose, end({ kind: next.kind, exitCode: next.exitCode, stdoutBytes: 5 }))
          );
        }
        case 'reap': {
          const whose = owner(next.pick);
          const taken = whose && transitions.takeOver(tx, whose, whose.workerId === 'w0' ? 'w1' : 'w0');
          return taken && transitions.closeReaped(tx, taken);
        }
        case 'sleep': {
          const whose = owner(next.pick);
          if (whose === undefined) return null;
          transitions.checkpoint(tx, whose, `stage ${next.pick}`, new Uint8Array([1]));
          transitions.sleep(tx, whose, `nap ${next.pick}`, 5000);
          return transitions.finish(tx, whose, end({ exitCode: 75 }));
        }
        case 'cancel':
          return transitions.cancel(tx, { ids: [chosen(next.pick)] });
        case 'rerun':
          return transitions.rerun(tx, [chosen(next.pick)]);
        case 'retry':
          return transitions.retry(tx, {
            selection: { ids: [chosen(next.pick)] },
            force: next.force,
            withDependents: next.withDependents,
          });
        case 'bump':
          return transitions.bump(tx, { jobs: [chosen(next.pick)], priority: next.priority, now: next.now });
        case 'pause':
          return transitions.pause(tx, [next.lane]);
        case 'resume':
          return transitions.resume(tx, [next.lane]);
        case 'slots':
          return transitions.setLane(tx, next.lane, { slots: next.slots });
        case 'advance':
          return clock.advance(next.ms);
        case 'prune':
          return transitions.prune(tx, {
            before: tx.now,
            states: [...TERMINAL_STATES],
            maxJobs: next.maxJobs,
            overBytes: 20,
          });
        default:
          return next satisfies never;
      }
    })
    .catch((error: unknown) => {
      if (!(error instanceof LanewayError) || !REFUSALS.has(error.code)) throw error;
    });
}

/** Every check passes, and every count is the length of its list. */
function assertSound(store: Store, after: string): void {
  store.read((r) => {
    const faults = queries.check(r, true).filter((check) => check.status === 'fail');
    assert.deepEqual(faults, [], after);
    const { counts, scheduled, retrying } = queries.counts(r);
    const listed = (state: Parameters<typeof queries.list>[1]['states']) =>
      queries.list(r, { states: state, limit: 1000 }).jobs;
    for (const state of ['blocked', 'queued', 'running', 'done', 'dead', 'canceled'] as const) {
      assert.equal(listed([state]).length, counts[state], `${state} ${after}`);
    }
    assert.equal(listed(['scheduled']).length, scheduled, after);
    assert.equal(listed(['retrying']).length, retrying, after);
    for (const waiting of listed(['queued', 'blocked']))
      assert.ok(waiting.waitReason, `job ${waiting.id} waits without a reason`);
  });
}

test('whatever is done, every invariant holds after every step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const cleanups: (() => unknown)[] = [];
      const { store, clock } = await openTemp({ after: (fn) => cleanups.push(fn as () => unknown) });
      try {
        for (const id of WORKERS) await store.write((tx) => transitions.registerWorker(tx, registration(id)));
        for (const [index, next] of steps.entries()) {
          await take(store, clock, next);
          assertSound(store, `after step ${index + 1}: ${JSON.stringify(next)}`);
        }
      } finally {
        for (const cleanup of cleanups.toReversed()) await cleanup();
      }
    }),
    { numRuns: 25, interruptAfterTimeLimit: 20_000, endOnFailure: false },
  );
});
