/** The state machine over events: legal lives, and each way a ledger can tell an impossible one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { follow, START } from '../../server/store/check/legalPath.ts';
import type { PathEvent, Standing } from '../../server/store/check/legalPath.ts';
import { EVENT_TYPES } from '../../shared/event.ts';
import type { EventType } from '../../shared/event.ts';

/** Follows a whole path. On failure `index` is that of the event that does not fit. */
function replay(
  events: readonly PathEvent[],
): { legal: true; standing: Standing } | { legal: false; index: number; why: string } {
  let standing: Standing = START;
  for (const [index, event] of events.entries()) {
    const next = follow(standing, event);
    if (typeof next === 'string') return { legal: false, index, why: next };
    standing = next;
  }
  return { legal: true, standing };
}

const event = (type: EventType, attempt: number | null = null, detail: Record<string, unknown> = {}): PathEvent => ({
  type,
  attempt,
  detail,
});
const added = event('added', null, { state: 'queued' });
const addedBlocked = event('added', null, { state: 'blocked' });
const claimed = (attempt = 1) => event('claimed', attempt);
const retriedBy = (automatic: boolean, detail: Record<string, unknown> = {}) =>
  event('retried', 1, { state: 'queued', automatic, manual: !automatic, ...detail });
const canceledFrom = (from: string, reason = 'canceled') => event('canceled', null, { from, reason });
const dead = (reason = 'process_exit') => event('dead', null, { reason });

const LEGAL: readonly [name: string, ends: string, path: PathEvent[]][] = [
  ['nothing yet', 'start', []],
  ['done', 'done', [added, claimed(), event('succeeded', 1)]],
  ['released, then run', 'done', [addedBlocked, event('released'), claimed(), event('succeeded', 1)]],
  [
    'retried, then dead',
    'dead',
    [added, claimed(), event('failed', 1), retriedBy(true), claimed(2), event('timed_out', 2), dead()],
  ],
  ['revived', 'queued', [added, claimed(), event('failed', 1), dead(), retriedBy(false)]],
  [
    'revived behind its needs',
    'blocked',
    [added, claimed(), event('failed', 1), dead(), retriedBy(false, { state: 'blocked' })],
  ],
  ['run now', 'queued', [added, claimed(), event('failed', 1), retriedBy(true), retriedBy(false)]],
  ['canceled waiting', 'canceled', [added, event('rescheduled'), canceledFrom('queued')]],
  ['canceled running', 'canceled', [added, claimed(), event('cancel_requested', 1), canceledFrom('running')]],
  [
    'canceled, its worker gone',
    'canceled',
    [added, claimed(), event('cancel_requested', 1), event('reaped', 1), canceledFrom('running')],
  ],
  ['crashed', 'queued', [added, claimed(), event('reaped', 1), retriedBy(true, { because: 'crash' })]],
  ['the machine had trouble', 'queued', [added, claimed(), retriedBy(true, { because: 'machine_trouble' })]],
  ['forced', 'queued', [added, claimed(), event('cancel_requested', 1), retriedBy(false, { forced: true })]],
  ['slept', 'running', [added, claimed(), event('checkpointed', 1), event('slept', 1), claimed(2)]],
  [
    'settled dead, then revived with its need',
    'blocked',
    [addedBlocked, dead('dependency'), retriedBy(false, { state: 'blocked', withNeed: 1 })],
  ],
  ['settled dead', 'dead', [addedBlocked, dead('dependency')]],
  ['pruned', 'pruned', [added, canceledFrom('queued'), event('pruned')]],
];

test('every legal life leads where it says', () => {
  for (const [name, ends, path] of LEGAL) {
    const result = replay(path);
    assert.ok(result.legal, `${name}: ${result.legal ? '' : result.why}`);
    assert.equal(result.standing.at, ends, name);
  }
});

const ILLEGAL: readonly [why: RegExp, path: PathEvent[]][] = [
  [/claimed cannot follow while not yet added/, [claimed()]],
  [/added cannot follow while queued/, [added, added]],
  [/added leads to no state/, [event('added')]],
  [/released cannot follow while queued/, [added, event('released')]],
  [/claimed cannot follow while blocked/, [addedBlocked, claimed()]],
  [/claimed cannot follow while running/, [added, claimed(), claimed(2)]],
  [/opens attempt 2 after attempt 0/, [added, claimed(2)]],
  [/opens attempt 1 after attempt 1/, [added, claimed(), event('slept', 1), claimed(1)]],
  [/succeeded speaks of attempt 2 while attempt 1 runs/, [added, claimed(), event('succeeded', 2)]],
  [/succeeded cannot follow while queued/, [added, event('succeeded', 1)]],
  [/claimed cannot follow while an ended attempt is being settled/, [added, claimed(), event('failed', 1), claimed(2)]],
  [/dead cannot follow while running/, [added, claimed(), dead()]],
  [/dies only of a dependency/, [addedBlocked, dead()]],
  [/retried cannot follow while running/, [added, claimed(), retriedBy(true, { because: 'failure' })]],
  [/automatic retry cannot follow while dead/, [added, claimed(), event('failed', 1), dead(), retriedBy(true)]],
  [/retried cannot follow while done/, [added, claimed(), event('succeeded', 1), retriedBy(false)]],
  [/retried cannot follow while canceled/, [added, canceledFrom('queued'), retriedBy(false, { withNeed: 1 })]],
  [/says from blocked while queued/, [added, canceledFrom('blocked')]],
  [/not canceled for a dependency/, [added, canceledFrom('queued', 'dependency')]],
  [/canceled cannot follow while done/, [added, claimed(), event('succeeded', 1), canceledFrom('running')]],
  [/rescheduled cannot follow while running/, [added, claimed(), event('rescheduled')]],
  [/pruned cannot follow while queued/, [added, event('pruned')]],
  [/added cannot follow while pruned/, [added, canceledFrom('queued'), event('pruned'), added]],
  [/concerns no job/, [event('lane_changed')]],
];

test('every impossible life is refused at the event that makes it so', () => {
  for (const [why, path] of ILLEGAL) {
    const result = replay(path);
    assert.ok(!result.legal, `${why} is taken for legal`);
    assert.match(result.why, why);
    assert.equal(result.index, path.length - 1);
  }
});

test('whatever the events, a legal path never leaves what has ended but by a retry', () => {
  const anyEvent = fc.record({
    type: fc.constantFrom(...EVENT_TYPES),
    attempt: fc.option(fc.integer({ min: 1, max: 3 })),
    detail: fc.record({
      state: fc.constantFrom('queued', 'blocked'),
      from: fc.constantFrom('queued', 'blocked', 'running'),
      reason: fc.constantFrom('canceled', 'dependency', 'process_exit'),
      automatic: fc.boolean(),
    }),
  });
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      let standing = { ...START };
      for (const each of events) {
        const next = follow(standing, each);
        if (typeof next === 'string') continue;
        if (['done', 'dead', 'canceled', 'pruned'].includes(standing.at)) {
          assert.ok(each.type === 'pruned' || (standing.at !== 'done' && each.type === 'retried'));
        }
        assert.ok(
          next.attempt === standing.attempt || (each.type === 'claimed' && next.attempt === standing.attempt + 1),
        );
        standing = next;
      }
    }),
  );
});
