/**
 * Where every attempt's bar stands: lanes one below the other, each with as many rows as jobs ran
 * at once in it. Pure: attempts in, geometry out. Only running time takes room; waiting is
 * drawn behind, since thousands may wait at once.
 */
import type { Span } from '../../../../shared/protocol.ts';

export const ROW_HEIGHT = 22;
export const HEADING_HEIGHT = 26;
const LANE_GAP = 10;

export interface Bar {
  span: Span;
  /** Index of its row over all lanes. */
  row: number;
}

export interface Row {
  lane: number;
  /** Pixels from the top of the picture. */
  top: number;
  /** By start, never overlapping. */
  bars: Bar[];
}

export interface LaneBand {
  name: string;
  top: number;
  height: number;
}

export interface Scene {
  lanes: LaneBand[];
  rows: Row[];
  /** Pixels. */
  height: number;
  /** First and last moment of anything shown; null when there is nothing. */
  extent: { from: number; to: number } | null;
  /** Consecutive attempts of one job. */
  links: { from: Bar; to: Bar }[];
  bars: Map<string, Bar>;
}

export function keyOf(span: Pick<Span, 'jobId' | 'attempt'>): string {
  return `${span.jobId}.${span.attempt}`;
}

/** End of a bar: a running one reaches to now. */
export function endOf(span: Span, now: number): number {
  return Math.max(span.startedAt, span.finishedAt ?? now);
}

/**
 * @param spans in any order, each attempt once.
 * @param laneOrder lanes in the order to show them, also those without a bar; others follow by name.
 */
export function layout(spans: readonly Span[], laneOrder: readonly string[], now: number): Scene {
  const byLane = new Map<string, Span[]>(laneOrder.map((name) => [name, []]));
  const extra = [...new Set(spans.map((span) => span.lane))].filter((name) => !byLane.has(name)).sort();
  for (const name of extra) byLane.set(name, []);
  for (const span of spans) byLane.get(span.lane)?.push(span);

  const scene: Scene = { lanes: [], rows: [], height: 0, extent: extentOf(spans, now), links: [], bars: new Map() };
  for (const [name, own] of byLane) {
    const top = scene.height;
    const packed = pack(own, now);
    const count = Math.max(1, packed.length);
    for (let nth = 0; nth < count; nth += 1) {
      const row: Row = { lane: scene.lanes.length, top: top + HEADING_HEIGHT + nth * ROW_HEIGHT, bars: [] };
      for (const span of packed[nth] ?? []) {
        const bar = { span, row: scene.rows.length };
        row.bars.push(bar);
        scene.bars.set(keyOf(span), bar);
      }
      scene.rows.push(row);
    }
    scene.lanes.push({ name, top, height: HEADING_HEIGHT + count * ROW_HEIGHT });
    scene.height = top + HEADING_HEIGHT + count * ROW_HEIGHT + LANE_GAP;
  }
  for (const to of scene.bars.values()) {
    const from = scene.bars.get(keyOf({ jobId: to.span.jobId, attempt: to.span.attempt - 1 }));
    if (from !== undefined) scene.links.push({ from, to });
  }
  return scene;
}

/** The fewest rows in which no two spans overlap: each goes to the first row that is free at its start. */
function pack(spans: readonly Span[], now: number): Span[][] {
  const ordered = [...spans].sort((a, b) => a.startedAt - b.startedAt || a.jobId - b.jobId || a.attempt - b.attempt);
  const rows: Span[][] = [];
  const ends: number[] = [];
  for (const span of ordered) {
    let row = ends.findIndex((end) => end <= span.startedAt);
    if (row === -1) row = rows.push([]) - 1;
    rows[row]?.push(span);
    // A bar without length still takes its place, or two of them would hide each other.
    ends[row] = Math.max(endOf(span, now), span.startedAt + 1);
  }
  return rows;
}

function extentOf(spans: readonly Span[], now: number): Scene['extent'] {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    from = Math.min(from, span.waitingSince, span.startedAt);
    to = Math.max(to, endOf(span, now));
  }
  return from <= to ? { from, to } : null;
}

/** The part of a row's bars that overlaps a span of time, by two binary searches. */
export function barsBetween(bars: readonly Bar[], from: number, to: number, now: number): readonly Bar[] {
  const first = lowest(bars.length, (at) => endOf((bars[at] as Bar).span, now) >= from);
  const last = lowest(bars.length, (at) => (bars[at] as Bar).span.startedAt > to);
  return bars.slice(first, last);
}

/** The rows that a window of pixels shows. */
export function rowsBetween(rows: readonly Row[], top: number, bottom: number): readonly Row[] {
  const first = lowest(rows.length, (at) => (rows[at] as Row).top + ROW_HEIGHT >= top);
  const last = lowest(rows.length, (at) => (rows[at] as Row).top > bottom);
  return rows.slice(first, last);
}

/** The bar at a moment and height, or the nearest one within `slackMs` in that row. */
export function barAt(scene: Scene, at: number, y: number, slackMs: number, now: number): Bar | null {
  const [row] = rowsBetween(scene.rows, y, y);
  if (row === undefined || y < row.top || y >= row.top + ROW_HEIGHT) return null;
  const away = (bar: Bar): number => Math.max(bar.span.startedAt - at, at - endOf(bar.span, now), 0);
  return nearest(barsBetween(row.bars, at - slackMs, at + slackMs, now), away);
}

export type Direction = 'left' | 'right' | 'up' | 'down';

/** The bar a key leads to: along its row, or to the nearest moment in the next row that has bars. */
export function neighbour(scene: Scene, bar: Bar, direction: Direction): Bar {
  const own = scene.rows[bar.row]?.bars ?? [];
  if (direction === 'left') return own[own.indexOf(bar) - 1] ?? bar;
  if (direction === 'right') return own[own.indexOf(bar) + 1] ?? bar;
  const step = direction === 'up' ? -1 : 1;
  for (let at = bar.row + step; at >= 0 && at < scene.rows.length; at += step) {
    const found = nearest(scene.rows[at]?.bars ?? [], (each) => Math.abs(each.span.startedAt - bar.span.startedAt));
    if (found !== null) return found;
  }
  return bar;
}

/** The bar that started last. */
export function newest(scene: Scene): Bar | null {
  let found: Bar | null = null;
  for (const bar of scene.bars.values()) if (found === null || bar.span.startedAt >= found.span.startedAt) found = bar;
  return found;
}

function nearest(bars: readonly Bar[], distance: (bar: Bar) => number): Bar | null {
  let found: Bar | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const bar of bars) {
    const far = distance(bar);
    if (far >= least) continue;
    found = bar;
    least = far;
  }
  return found;
}

/** The first index for which a test that never turns false again is true; `length` when none. */
function lowest(length: number, test: (at: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
