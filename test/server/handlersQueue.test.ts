/** Every message about the queue as a whole: lanes, settings, pruning, checks, spans of time. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import * as P from '../../shared/protocol.ts';
import { CARRIERS, type Case, inOneWorld, later, refused } from './messages.ts';

const CASES: Case[] = [
  [
    'lanes, pause and resume, settings',
    async ({ ask, one }) => {
      const { lane } = await ask(P.LanesSet, { name: 'L', settings: { slots: 3, timeoutMs: 5000 } });
      assert.deepEqual([lane.slots, lane.timeoutMs], [3, 5000]);
      assert.equal((await one(later({ lane: 'L' }))).timeoutMs, 5000);
      assert.equal((await ask(P.LanesSet, { name: 'L', settings: { timeoutMs: null } })).lane.timeoutMs, null);
      await refused(ask(P.LanesSet, { name: 'L', settings: { slots: 0 } }), 'INVALID_INPUT', /slots 0/);
      await refused(ask(P.LanesRemove, { name: 'L' }), 'CONFLICT', /L/);
      assert.equal((await ask(P.Pause, { lanes: ['L'] })).lanes[0]?.paused, true);
      assert.equal((await ask(P.Resume, { lanes: ['L'] })).lanes[0]?.paused, false);
      await refused(ask(P.Pause, { lanes: ['nowhere'] }), 'NOT_FOUND', /nowhere/);
      await ask(P.LanesSet, { name: 'empty', settings: {} });
      assert.equal((await ask(P.LanesRemove, { name: 'empty' })).lane.name, 'empty');
      assert.ok((await ask(P.Lanes, null)).lanes.every(({ name }) => name !== 'empty'));

      const { settings } = await ask(P.SettingsSet, { settings: { concurrency: 7, logLimit: 1_000_000 } });
      assert.deepEqual((await ask(P.SettingsGet, null)).settings, settings);
      assert.deepEqual([settings.concurrency, settings.logLimit], [7, 1_000_000]);
      await refused(ask(P.SettingsSet, { settings: { concurrency: 0 } }), 'INVALID_INPUT', /concurrency 0/);
    },
  ],
  [
    'prune: rows, logs and empty folders go; a dry run says so beforehand (Nukesor/pueue#187)',
    async ({ ask, one, box }) => {
      await ask(P.Cancel, { selection: { all: true } });
      const job = await one({ argv: ['echo', 'kept until pruned'] });
      const dead = await one({ argv: ['false'] });
      await ask(P.Wait, { selection: { ids: [job.id, dead.id] } });
      const before = await ask(P.Prune, { dryRun: true });
      const { done, canceled } = (await ask(P.StatusRequest, null)).counts;
      assert.equal(before.deleted, done + canceled);
      const gone = await ask(P.Prune, { dryRun: false });
      assert.deepEqual(gone, before);
      await refused(ask(P.Show, { job: job.id }), 'NOT_FOUND', /./);
      assert.equal((await ask(P.Show, { job: dead.id })).job.state, 'dead');
      await ask(P.Prune, { dryRun: false, states: ['dead'] });
      const { counts, logBytes } = await ask(P.StatusRequest, null);
      assert.deepEqual([counts.done, counts.dead, counts.canceled, logBytes], [0, 0, 0, 0]);
      const logs = path.join(box.paths().folder, 'logs');
      assert.deepEqual(fs.existsSync(logs) ? fs.readdirSync(logs, { recursive: true }) : [], []);
      assert.equal((await ask(P.Prune, { dryRun: false, olderThanMs: 1000 })).deleted, 0);
      await refused(ask(P.Prune, { dryRun: false, states: ['running'] }), 'INVALID_INPUT', /running/);
    },
  ],
  [
    'spans, status and doctor agree with what ran',
    async ({ ask, one }) => {
      const job = await one({ argv: ['true'], lane: 'spans' });
      await ask(P.Wait, { selection: { ids: [job.id] } });
      const now = Date.now();
      const { spans } = await ask(P.Spans, { from: now - 3_600_000, to: now + 60_000 });
      const mine = spans.find(({ jobId }) => jobId === job.id);
      assert.deepEqual([mine?.lane, mine?.state, mine?.attempt], ['spans', 'succeeded', 1]);
      await refused(ask(P.Spans, { from: 5, to: 4 }), 'INVALID_INPUT', /to/);
      const status = await ask(P.StatusRequest, null);
      assert.equal(status.workers.length, 1);
      assert.ok(status.lanes.some(({ name }) => name === 'spans'));
      const { ok, checks } = await ask(P.Doctor, { deep: true });
      assert.deepEqual(
        checks.filter(({ status: s }) => s === 'fail'),
        [],
      );
      assert.equal(ok, true);
    },
  ],
];

for (const carrier of CARRIERS)
  describe(`messages about the queue over ${carrier}`, () => {
    const world = inOneWorld(carrier);
    for (const [name, run] of CASES) it(name, () => run(world()));
  });
