/** The window of time one looks through: zooming, panning, ticks. Pure. */

/** Milliseconds since the epoch. */
export interface View {
  from: number;
  to: number;
}

/** A narrower window shows nothing more; a wider one holds longer than logs are kept. */
const NARROWEST_MS = 50;
const WIDEST_MS = 366 * 86_400_000;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  30 * DAY,
  90 * DAY,
];

/** The whole of something, with a little room on both sides. */
export function fit(extent: View): View {
  const room = Math.max((extent.to - extent.from) * 0.03, NARROWEST_MS);
  return { from: extent.from - room, to: extent.to + room };
}

/** Zooms around a moment that stays where it is. `factor` below 1 zooms in. */
export function zoom(view: View, factor: number, anchor: number): View {
  const span = view.to - view.from;
  const wanted = Math.min(WIDEST_MS, Math.max(NARROWEST_MS, span * factor));
  const left = (anchor - view.from) / span;
  return { from: anchor - wanted * left, to: anchor + wanted * (1 - left) };
}

/** Moves by a part of the window's own width. */
export function pan(view: View, part: number): View {
  const by = (view.to - view.from) * part;
  return { from: view.from + by, to: view.to + by };
}

/** The same width, with its right edge a little past `now`. */
export function followNow(view: View, now: number): View {
  const span = view.to - view.from;
  const to = now + span * 0.03;
  return { from: to - span, to };
}

/** Moves as little as needed for a span of time to be seen. */
export function include(view: View, from: number, to: number): View {
  const span = view.to - view.from;
  if (to - from >= span) return fit({ from, to });
  const room = span * 0.05;
  if (from < view.from) return { from: from - room, to: from - room + span };
  if (to > view.to) return { from: to + room - span, to: to + room };
  return view;
}

export function xOf(view: View, width: number, at: number): number {
  return ((at - view.from) / (view.to - view.from)) * width;
}

export function timeAt(view: View, width: number, x: number): number {
  return view.from + (x / width) * (view.to - view.from);
}

export interface Tick {
  at: number;
  label: string;
}

/**
 * Round moments of local time, about `spacing` pixels apart.
 * @param offsetMs local time minus UTC at the window, so that days begin at midnight.
 */
export function ticks(view: View, width: number, spacing: number, offsetMs: number): Tick[] {
  const wanted = ((view.to - view.from) / Math.max(1, width)) * spacing;
  const step = STEPS.find((each) => each >= wanted) ?? STEPS.at(-1) ?? DAY;
  const found: Tick[] = [];
  for (let at = Math.ceil((view.from + offsetMs) / step) * step; at <= view.to + offsetMs; at += step) {
    found.push({ at: at - offsetMs, label: label(at, step) });
  }
  return found;
}

/** A local moment, given as if it were UTC, as finely as its step needs. */
function label(local: number, step: number): string {
  const iso = new Date(local).toISOString();
  if (step >= DAY || local % DAY === 0) return iso.slice(5, 10);
  if (step >= MINUTE) return iso.slice(11, 16);
  return step >= SECOND ? iso.slice(11, 19) : iso.slice(14, 23);
}
