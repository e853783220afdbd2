/**
 * Random operations on random graphs of jobs: after each one the store says what the model says, and
 * every invariant holds. Among the operations are writes by owners that lost their job long ago.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { AttemptEnd, Claimed, Store } from '../../server/store/api.ts';
import * as transitions from '../../server/store/transitions/index.ts';
import type { JobState, NeedPolicy } from '../../shared/job.ts';
import { Model } from './model.ts';
import {
  assertSound,
  CALLER,
  claim,
  end,
  type FakeClock,
  job,
  memoryFolder,
  openTemp,
  register,
  type Scope,
} from './support.ts';

const SLOTS = { a: 2, b: 1 };
const KEYS = [null, null, null, 'k1', 'k2'];
const ENDS: Partial<AttemptEnd>[] = [
  {},
  {},
  { exitCode: 1 },
  { exitCode: null, signal: 'SIGKILL' },
  { kind: 'timed_out', exitCode: null, signal: 'SIGTERM', signalled: true },
  { kind: 'stopped', exitCode: null, signal: 'SIGTERM', signalled: true },
  { kind: 'machine_trouble', exitCode: null },
  { exitCode: 0, signalled: true },
];

/** A number that picks one of however many there are when the operation's turn comes. */
const pick = fc.nat({ max: 1000 });

const operation = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant('add' as const),
      lane: fc.constantFrom('a', 'b'),
      priority: fc.integer({ min: 0, max: 2 }),
      policy: fc.constantFrom<NeedPolicy>('cancel', 'dead', 'release'),
      key: fc.constantFrom(...KEYS),
      maxRetries: fc.integer({ min: 0, max: 2 }),
      maxCrashes: fc.integer({ min: 0, max: 1 }),
      afterMs: fc.constantFrom(null, null, 1500),
      needs: fc.array(pick, { maxLength: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant('finish' as const), owner: pick, how: fc.constantFrom(...ENDS) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('reap' as const), owner: pick }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('cancel' as const), job: pick }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('retry' as const), job: pick, force: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      op: fc.constant('bump' as const),
      job: pick,
      priority: fc.option(fc.integer({ min: 0, max: 2 })),
      now: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant('pass' as const), ms: fc.constantFrom(500, 2000, 70_000) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('pause' as const), lane: fc.constantFrom('a', 'b') }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

interface Run {
  store: Store;
  clock: FakeClock;
  model: Model;
  /** Everyone who ever owned a job; most have lost it since. */
  owners: Claimed[];
}

async function step({ store, clock, model, owners }: Run, operation: Operation): Promise<void> {
  const some = model.jobs.length;
  switch (operation.op) {
    case 'add': {
      const needs = some === 0 ? [] : operation.needs.map((n) => (n % some) + 1);
      const { op: _, policy, ...request } = operation;
      const expected = model.add({ ...request, policy, needs });
      const adding = store.write((tx) =>
        transitions.add(tx, [job({ ...request, needs, onNeedFailure: policy })], CALLER),
      );
      if (expected === null) await assert.rejects(adding, { code: 'KEY_CONFLICT' });
      else assert.deepEqual((await adding).ids, [expected]);
      return;
    }
    case 'claim': {
      const claimed = await claim(store, { limit: operation.limit });
      assert.deepEqual(
        claimed.map(({ jobId }) => jobId),
        model.claim(operation.limit),
      );
      owners.push(...claimed);
      return;
    }
    case 'finish':
    case 'reap': {
      const owner = owners[operation.owner % Math.max(1, owners.length)];
      if (owner === undefined) return;
      const owns = model.owns(owner);
      if (operation.op === 'finish') {
        const how = end(operation.how);
        const { applied } = await store.write((tx) => transitions.finish(tx, owner, how));
        assert.equal(applied, owns);
        if (owns) model.finish(owner.jobId, how);
      } else {
        const taken = await store.write((tx) => transitions.takeOver(tx, owner, 'reaper'));
        assert.equal(taken !== null, owns);
        if (taken === null) return;
        assert.equal((await store.write((tx) => transitions.finish(tx, owner, end()))).applied, false);
        await store.write((tx) => transitions.closeReaped(tx, taken));
        model.reap(owner.jobId);
      }
      return;
    }
    case 'cancel':
    case 'retry':
    case 'bump': {
      if (some === 0) return;
      const id = (operation.job % some) + 1;
      const expected = apply(model, operation, id, backingOff(store, id));
      const [result] = await store.write((tx) => verb(tx, operation, id));
      assert.equal(result?.error === null, expected, JSON.stringify(result));
      return;
    }
    case 'pass':
      clock.advance(operation.ms);
      model.now = clock.now();
      return;
    case 'pause': {
      const { lane } = operation;
      const paused = model.paused.has(lane);
      await store.write((tx) => (paused ? transitions.resume : transitions.pause)(tx, [lane]));
      if (paused) model.paused.delete(lane);
      else model.paused.add(lane);
      return;
    }
    default:
      operation satisfies never;
  }
}

type Verb = Extract<Operation, { op: 'cancel' | 'retry' | 'bump' }>;

function apply(model: Model, operation: Verb, id: number, isBackingOff: boolean): boolean {
  if (operation.op === 'cancel') return model.cancel(id);
  if (operation.op === 'retry') return model.retry(id, operation.force, isBackingOff);
  return model.bump(id, operation.priority, operation.now);
}

function verb(tx: Parameters<typeof transitions.cancel>[0], operation: Verb, id: number): { error: unknown }[] {
  if (operation.op === 'cancel') return transitions.cancel(tx, { ids: [id] }).results;
  if (operation.op === 'retry') {
    return transitions.retry(tx, { selection: { ids: [id] }, force: operation.force, withDependents: false }).results;
  }
  return transitions.bump(tx, { jobs: [id], priority: operation.priority, now: operation.now }).results;
}

function backingOff(store: Store, id: number): boolean {
  return store.read(
    ({ db }) => db.prepare('SELECT backing_off FROM job_runtime WHERE job_id = ?').pluck().get(id) === 1,
  );
}

interface Seen {
  id: number;
  state: JobState;
  failures: number;
  crashes: number;
  attempts: number;
}

function seen(store: Store): Seen[] {
  return store.read(({ db }) =>
    db.prepare<[], Seen>('SELECT id, state, failures, crashes, attempts FROM job_view ORDER BY id').all(),
  );
}

test('whatever happens in whatever order, the store does what the model says', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 60 }), async (operations) => {
      const cleanups: (() => unknown)[] = [];
      const scope: Scope = { after: (cleanup) => void cleanups.unshift(cleanup as () => unknown) };
      const { store, clock } = await openTemp(scope, { folder: memoryFolder(scope) });
      try {
        await register(store, 'w1');
        await register(store, 'reaper');
        for (const [lane, slots] of Object.entries(SLOTS)) {
          await store.write((tx) => transitions.setLane(tx, lane, { slots }));
        }
        const run: Run = { store, clock, model: new Model(SLOTS), owners: [] };
        run.model.now = clock.now();
        for (const operation of operations) {
          await step(run, operation);
          assert.deepEqual(
            seen(store),
            run.model.jobs.map(({ id, state, failures, crashes, attempts }) => ({
              id,
              state,
              failures,
              crashes,
              attempts,
            })),
          );
          assertSound(store);
        }
      } finally {
        for (const cleanup of cleanups) await cleanup();
      }
    }),
    { numRuns: 60 },
  );
});
