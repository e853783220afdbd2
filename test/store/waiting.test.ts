/** Phase and reason of waiting, derived purely: every phase, every obstacle, in the order they are named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { derivePhase, deriveWaitReason, iso } from '../../server/store/waiting.ts';
import type { LaneSituation, PhaseColumns, Waiting, WorkerSituation } from '../../server/store/waiting.ts';

const NOW = Date.UTC(2026, 0, 2);

test('a phase is the state, but for queued jobs', () => {
  const row = (state: PhaseColumns['state'], due: number, backingOff: number, at: number): PhaseColumns => ({
    state,
    due,
    backing_off: backingOff,
    next_run_at: at,
  });
  const cases: [PhaseColumns, string][] = [
    [row('queued', 1, 0, NOW), 'ready'],
    [row('queued', 1, 0, NOW + 9000), 'ready'], // due whatever the clock says: it may have stepped back
    [row('queued', 0, 0, NOW + 1), 'scheduled'],
    [row('queued', 0, 1, NOW + 1), 'retrying'],
    [row('queued', 0, 0, NOW), 'ready'],
    [row('queued', 0, 1, NOW - 1), 'ready'],
    [row('blocked', 0, 0, NOW + 1), 'blocked'],
    [row('running', 1, 0, NOW), 'running'],
    [{ state: 'done', due: null, backing_off: null, next_run_at: null }, 'done'],
  ];
  for (const [columns, phase] of cases) assert.equal(derivePhase(columns, NOW), phase, JSON.stringify(columns));
});

test('a waiting job says what holds it, the first obstacle first', () => {
  const lane = (over: Partial<LaneSituation> = {}): LaneSituation => ({ paused: false, slots: 2, running: 1, ...over });
  const worker = (over: Partial<WorkerSituation> = {}): WorkerSituation => ({
    lanes: null,
    slots: null,
    concurrency: 4,
    running: 1,
    ...over,
  });
  const job = (over: Partial<Waiting> = {}): Waiting => ({
    phase: 'ready',
    lane: 'build',
    nextRunAt: NOW,
    openNeeds: [],
    ...over,
  });
  const cases: [string | null, Waiting, LaneSituation, WorkerSituation[]][] = [
    ['needs 12', job({ phase: 'blocked', openNeeds: [12] }), lane({ paused: true }), []],
    ['needs 12 and 14', job({ phase: 'blocked', openNeeds: [12, 14] }), lane(), []],
    ['needs 1, 2 and 3', job({ phase: 'blocked', openNeeds: [1, 2, 3] }), lane(), []],
    ['needs 1, 2, 3, 4, 5 and 2 more', job({ phase: 'blocked', openNeeds: [1, 2, 3, 4, 5, 6, 7] }), lane(), []],
    ['due at 2026-01-02T00:00:00.000Z', job({ phase: 'scheduled' }), lane({ paused: true }), []],
    ['due at 2026-01-02T00:00:00.000Z', job({ phase: 'retrying' }), lane(), [worker()]],
    ['lane paused', job(), lane({ paused: true, running: 2 }), []],
    ['lane full', job(), lane({ running: 2 }), [worker()]],
    ['lane full', job(), lane({ running: 2 }), []],
    ['lane full', job(), lane(), [worker({ slots: 1 })]],
    ['about to start', job(), lane(), [worker({ slots: 1 }), worker()]],
    ['no worker', job(), lane(), []],
    ['no worker', job(), lane(), [worker({ lanes: ['other'] })]],
    ['workers busy', job(), lane(), [worker({ running: 4 }), worker({ lanes: ['other'] })]],
    ['about to start', job(), lane(), [worker({ lanes: ['build'] })]],
    [null, job({ phase: 'running' }), lane({ paused: true }), []],
    [null, job({ phase: 'done' }), lane(), []],
  ];
  for (const [reason, waiting, situation, workers] of cases) {
    assert.equal(deriveWaitReason(waiting, situation, workers), reason, JSON.stringify([waiting, situation, workers]));
  }
});

test('a time that no date can say does not throw', () => {
  assert.equal(iso(9e15), '+275760-09-13T00:00:00.000Z');
  assert.equal(iso(0), '1970-01-01T00:00:00.000Z');
});
