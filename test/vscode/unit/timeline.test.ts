/** The timeline's geometry, its window of time, and its page's policy. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, constantFrom, integer, property, record } from 'fast-check';
import { timelineHtml } from '../../../client/vscode/timeline/html.ts';
import {
  barAt,
  barsBetween,
  endOf,
  keyOf,
  layout,
  neighbour,
  newest,
  ROW_HEIGHT,
} from '../../../client/vscode/timeline/webview/scene.ts';
import { fit, followNow, include, ticks, timeAt, xOf, zoom } from '../../../client/vscode/timeline/webview/view.ts';
import type { Span } from '../../../shared/protocol.ts';

const NOW = 10_000;
function span(jobId: number, startedAt: number, finishedAt: number | null, more: Partial<Span> = {}): Span {
  const state = finishedAt === null ? 'running' : 'succeeded';
  return {
    jobId,
    lane: 'default',
    title: `job ${jobId}`,
    attempt: 1,
    state,
    waitingSince: startedAt,
    startedAt,
    finishedAt,
    ...more,
  };
}

describe('where bars stand', () => {
  it('one row while jobs run one after the other, as many as ran at once otherwise', () => {
    const after = layout([span(1, 0, 10), span(2, 10, 20), span(3, 25, 30)], [], NOW);
    assert.equal(after.rows.length, 1);
    const atOnce = layout([span(1, 0, 10), span(2, 5, 20), span(3, 10, 30)], [], NOW);
    assert.deepEqual(
      atOnce.rows.map((row) => row.bars.map((bar) => bar.span.jobId)),
      [[1, 3], [2]],
    );
  });

  it('a running job reaches to now, and keeps its row to itself', () => {
    const scene = layout([span(1, 0, null), span(2, 50, 60)], [], NOW);
    assert.equal(scene.rows.length, 2);
    assert.deepEqual(scene.extent, { from: 0, to: NOW });
  });

  it('lanes in the order given, empty ones too, unknown ones behind; attempts of a job are linked', () => {
    const scene = layout(
      [
        span(1, 0, 10, { lane: 'zeta' }),
        span(1, 20, 30, { lane: 'zeta', attempt: 2 }),
        span(2, 0, 5, { lane: 'build' }),
      ],
      ['default', 'build'],
      NOW,
    );
    assert.deepEqual(
      scene.lanes.map((lane) => lane.name),
      ['default', 'build', 'zeta'],
    );
    assert.deepEqual(
      scene.links.map(({ from, to }) => [keyOf(from.span), keyOf(to.span)]),
      [['1.1', '1.2']],
    );
  });

  it('never overlaps, loses none, and finds each bar again, for any attempts', () => {
    const one = record({
      start: integer({ min: 0, max: 500 }),
      length: integer({ min: 0, max: 100 }),
      lane: constantFrom('a', 'b', 'c'),
    });
    check(
      property(array(one, { maxLength: 80 }), (all) => {
        const spans = all.map((each, nth) => span(nth, each.start, each.start + each.length, { lane: each.lane }));
        const scene = layout(spans, ['a'], NOW);
        assert.equal(scene.bars.size, spans.length);
        for (const row of scene.rows) {
          for (let at = 1; at < row.bars.length; at += 1) {
            const before = row.bars[at - 1]?.span;
            const bar = row.bars[at]?.span;
            assert.ok(before && bar && endOf(before, NOW) <= bar.startedAt);
          }
          const shown = barsBetween(row.bars, 100, 200, NOW);
          assert.deepEqual(
            shown,
            row.bars.filter((bar) => bar.span.startedAt <= 200 && endOf(bar.span, NOW) >= 100),
          );
        }
        for (const bar of scene.bars.values()) {
          const y = (scene.rows[bar.row]?.top ?? 0) + ROW_HEIGHT / 2;
          const found = barAt(scene, bar.span.startedAt, y, 0, NOW);
          assert.ok(found !== null && found.row === bar.row);
        }
      }),
    );
  });

  it('arrow keys reach every bar and stop at the borders', () => {
    const scene = layout(
      [span(1, 0, 10), span(2, 20, 30), span(3, 21, 40), span(4, 0, 9, { lane: 'other' })],
      ['default', 'other'],
      NOW,
    );
    const last = newest(scene);
    assert.ok(last !== null);
    assert.equal(last.span.jobId, 3);
    const up = neighbour(scene, last, 'up');
    assert.equal(up.span.jobId, 2);
    assert.equal(neighbour(scene, up, 'left').span.jobId, 1);
    assert.equal(neighbour(scene, last, 'down').span.jobId, 4);
    assert.equal(neighbour(scene, up, 'right'), up);
    assert.equal(neighbour(scene, neighbour(scene, up, 'up'), 'up'), up);
  });
});

describe('the window of time', () => {
  it('zooms around the pointer, which stays where it is', () => {
    const view = { from: 1000, to: 2000 };
    const anchor = timeAt(view, 500, 125);
    const zoomed = zoom(view, 0.5, anchor);
    assert.equal(zoomed.to - zoomed.from, 500);
    assert.equal(Math.round(xOf(zoomed, 500, anchor)), 125);
    assert.ok(zoom(view, 1e-9, 1500).to - zoom(view, 1e-9, 1500).from >= 50, 'not narrower than useful');
    assert.ok(fit({ from: 5, to: 5 }).to > fit({ from: 5, to: 5 }).from, 'a single moment has width');
  });

  it('follows now at the same width, and moves only as far as needed to show something', () => {
    const followed = followNow({ from: 0, to: 100 }, 1000);
    assert.ok(followed.to > 1000 && Math.abs(followed.to - followed.from - 100) < 1e-6);
    const view = { from: 100, to: 200 };
    assert.equal(include(view, 120, 130), view);
    assert.ok(include(view, 300, 310).to >= 310);
    assert.ok(include(view, 0, 10).from <= 0);
  });

  it('ticks are round local moments, a readable number of them at any zoom', () => {
    const midnight = Date.UTC(2031, 4, 4) - 2 * 3_600_000;
    for (const span of [60, 5000, 60_000, 3_600_000, 86_400_000, 30 * 86_400_000]) {
      const found = ticks({ from: midnight - span / 2, to: midnight + span / 2 }, 1000, 100, 2 * 3_600_000);
      assert.ok(found.length >= 2 && found.length <= 11, `${found.length} ticks over ${span} ms`);
    }
    const day = ticks({ from: midnight - 1000, to: midnight + 86_400_000 }, 800, 100, 2 * 3_600_000);
    assert.deepEqual(day.map((tick) => tick.label).slice(0, 3), ['05-04', '06:00', '12:00']);
  });
});

describe('the page', () => {
  it('runs only its own script and reaches nothing outside', () => {
    const html = timelineHtml({
      nonce: 'N0NCE',
      script: 'vscode-resource:/dist/timeline.js',
      folder: '<b>"x"</b>',
      root: '/a"b',
    });
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
    assert.match(policy, /^default-src 'none'; style-src 'nonce-N0NCE'; script-src 'nonce-N0NCE'$/);
    assert.doesNotMatch(html, /unsafe|<b>"x"| style="|\son\w+="/);
    assert.match(html, /<script nonce="N0NCE" src="vscode-resource:\/dist\/timeline\.js">/);
  });
});
