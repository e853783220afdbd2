/**
 * The timeline's page: one canvas, of which only the part in sight is painted, so three jobs and
 * five thousand cost the same. This file is the wiring; geometry, time and painting are elsewhere.
 */
import { sayCount } from '../../../../shared/format.ts';
import { AXIS_HEIGHT, draw, glyph } from './draw.ts';
import type { FromPage, Kept, ToPage } from './messages.ts';
import { OUTCOMES, readPalette } from './palette.ts';
import { type Bar, barAt, type Direction, endOf, keyOf, neighbour, newest, ROW_HEIGHT } from './scene.ts';
import { TimelineState } from './state.ts';
import { fit, followNow, include, pan, timeAt, type View, zoom } from './view.ts';
import { spoken, stateWords, tipLines } from './words.ts';

interface Host {
  postMessage(message: FromPage): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
}
declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
const canvas = element('canvas', HTMLCanvasElement);
const tip = element('tip', HTMLElement);
const context = canvas.getContext('2d', { alpha: false });
const state = new TimelineState();
const kept = host.getState();
let palette = readPalette(document.documentElement);
let view: View = kept?.view ?? { from: Date.now() - 60_000, to: Date.now() };
let live = kept?.live ?? true;
let fitted = kept !== undefined;
/** Everything was asked for: while now is followed the window grows instead of moving, until another is chosen. */
let fitting = kept?.fitting ?? false;
let scroll = 0;
let selected: string | null = null;
let hovered: string | null = null;
let revealJob: number | null = null;
let drag: { x: number; y: number; view: View; scroll: number; moved: boolean } | null = null;
let frame = 0;
let askTimer: ReturnType<typeof setTimeout> | undefined;

/** Before the first answer nothing is known of how the attempts spread, so all of them are shown. */
window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  switch (data.type) {
    case 'spans':
      state.take(data);
      if (!fitted && state.size > 0) showAll();
      element('empty', HTMLElement).hidden = state.size > 0;
      note();
      if (revealJob !== null) reveal(revealJob);
      break;
    case 'reveal':
      reveal(data.job);
      break;
    case 'trouble':
      element('note', HTMLElement).textContent = data.message;
      break;
    default:
      data satisfies never;
  }
  repaint();
});

function paint(): void {
  frame = 0;
  if (context === null) return;
  const now = Date.now();
  const scene = state.scene(now);
  if (live && fitting && scene.extent)
    view = fit({ from: scene.extent.from, to: state.running ? now : scene.extent.to });
  else if (live && state.running) view = followNow(view, now);
  const { width, height } = canvas.getBoundingClientRect();
  const scale = window.devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  scroll = Math.max(0, Math.min(scroll, scene.height - (height - AXIS_HEIGHT)));
  const job = barOf(selected)?.span.jobId ?? barOf(hovered)?.span.jobId ?? null;
  const offsetMs = -new Date(view.to).getTimezoneOffset() * 60_000;
  draw(
    context,
    { scene, view, width, height, scroll, now, lanes: state.lanes, selected, hovered, job, offsetMs },
    palette,
  );
  host.setState({ view, live, fitting, root: document.body.dataset['root'] ?? '' });
  // For tests and for people with a slow machine: what is painted, without reading pixels.
  canvas.dataset['bars'] = String(scene.bars.size);
  canvas.dataset['lanes'] = scene.lanes.map((lane) => lane.name).join(' ');
}

function repaint(): void {
  if (frame === 0) frame = requestAnimationFrame(paint);
}

/** A new window of time: paint it, and ask for what of it is not loaded once it comes to rest. */
function look(next: View, keepLive = false): void {
  view = next;
  fitting = false;
  if (!keepLive) setLive(false);
  clearTimeout(askTimer);
  askTimer = setTimeout(() => {
    const { loaded } = state;
    const now = Date.now();
    if (loaded !== null && view.from >= loaded.from && Math.min(view.to, now) <= loaded.to + 60_000) return;
    host.postMessage({ type: 'range', from: Math.max(0, Math.floor(view.from)), to: Math.max(0, Math.ceil(view.to)) });
  }, 200);
  repaint();
}

function showAll(): void {
  const { extent } = state.scene(Date.now());
  if (extent === null) return;
  fitted = true;
  look(fit(extent), live);
  fitting = true;
}

function setLive(on: boolean): void {
  live = on;
  element('live', HTMLElement).setAttribute('aria-pressed', String(on));
}

function barOf(key: string | null): Bar | undefined {
  return key === null ? undefined : state.scene(Date.now()).bars.get(key);
}

function select(bar: Bar | null): void {
  if (bar === null) return;
  const now = Date.now();
  selected = keyOf(bar.span);
  // What runs stays in sight by itself while now is followed.
  const stays = live && bar.span.finishedAt === null;
  const next = stays ? view : include(view, bar.span.startedAt, endOf(bar.span, now));
  if (next !== view) look(next);
  repaint();
  const top = state.scene(now).rows[bar.row]?.top ?? 0;
  const room = canvas.getBoundingClientRect().height - AXIS_HEIGHT;
  if (top < scroll + ROW_HEIGHT) scroll = top - ROW_HEIGHT * 2;
  else if (top + ROW_HEIGHT > scroll + room) scroll = top + ROW_HEIGHT * 2 - room;
  element('said', HTMLElement).textContent = spoken(bar.span, now);
}

/** The newest attempt of a job; remembered until its attempts are here. */
function reveal(job: number): void {
  let found: Bar | null = null;
  for (const bar of state.scene(Date.now()).bars.values()) {
    if (bar.span.jobId === job && (found === null || bar.span.attempt > found.span.attempt)) found = bar;
  }
  revealJob = found === null ? job : null;
  select(found);
}

function openLog(bar: Bar | undefined): void {
  if (bar !== undefined) host.postMessage({ type: 'open', job: bar.span.jobId, attempt: bar.span.attempt });
}

function note(): void {
  const text = state.truncated ? `the newest ${sayCount(state.size, 'attempt')}` : sayCount(state.size, 'attempt');
  element('note', HTMLElement).textContent = state.size === 0 ? '' : text;
}

function under(event: MouseEvent): Bar | null {
  const box = canvas.getBoundingClientRect();
  const at = timeAt(view, box.width, event.clientX - box.left);
  const slack = ((view.to - view.from) / box.width) * 3;
  const y = event.clientY - box.top;
  if (y < AXIS_HEIGHT) return null;
  return barAt(state.scene(Date.now()), at, y - AXIS_HEIGHT + scroll, slack, Date.now());
}

function hover(event: MouseEvent, bar: Bar | null): void {
  hovered = bar === null ? null : keyOf(bar.span);
  canvas.style.cursor = bar === null ? 'grab' : 'pointer';
  tip.hidden = bar === null;
  if (bar !== null) {
    tip.textContent = [...tipLines(bar.span, Date.now()), 'Click to show its log'].join('\n');
    const box = canvas.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 8);
    const below = event.clientY - box.top + 16;
    const fits = below + tip.offsetHeight + 8 < box.height;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${fits ? below : Math.max(4, below - tip.offsetHeight - 28)}px`;
  }
  repaint();
}

canvas.addEventListener('pointerdown', (event) => {
  drag = { x: event.clientX, y: event.clientY, view, scroll, moved: false };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', (event) => {
  if (drag === null) {
    hover(event, under(event));
    return;
  }
  const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
  drag.moved = true;
  tip.hidden = true;
  canvas.style.cursor = 'grabbing';
  scroll = drag.scroll - dy;
  look(pan(drag.view, -dx / canvas.getBoundingClientRect().width));
});
canvas.addEventListener('pointerup', (event) => {
  const clicked = drag !== null && !drag.moved;
  drag = null;
  const bar = under(event);
  if (!clicked || bar === null) return;
  select(bar);
  openLog(bar);
});
canvas.addEventListener('pointercancel', () => {
  drag = null;
});
canvas.addEventListener('pointerleave', (event) => hover(event, null));
canvas.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey || event.altKey) {
      look(zoom(view, Math.exp(event.deltaY / 300), timeAt(view, box.width, event.clientX - box.left)));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      look(pan(view, (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) / box.width));
    } else if (state.scene(Date.now()).height > box.height - AXIS_HEIGHT) {
      scroll += event.deltaY;
      repaint();
    } else {
      // Nothing to scroll: the wheel zooms.
      look(zoom(view, Math.exp(event.deltaY / 300), timeAt(view, box.width, event.clientX - box.left)));
    }
  },
  { passive: false },
);

const MOVES: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};
const KEYS: Readonly<Record<string, () => void>> = {
  Enter: () => openLog(barOf(selected)),
  ' ': () => openLog(barOf(selected)),
  '+': () => zoomBy(0.7),
  '=': () => zoomBy(0.7),
  '-': () => zoomBy(1 / 0.7),
  f: showAll,
  l: () => follow(!live),
  Home: () => look(pan(view, -0.8)),
  End: () => look(pan(view, 0.8)),
  PageUp: () => scrollBy(-0.8),
  PageDown: () => scrollBy(0.8),
  Escape: () => {
    selected = null;
    repaint();
  },
};

canvas.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const direction = MOVES[event.key];
  const action = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (direction === undefined && action === undefined) return;
  event.preventDefault();
  if (direction !== undefined) {
    const now = state.scene(Date.now());
    const from = barOf(selected);
    select(from === undefined ? newest(now) : neighbour(now, from, direction));
  } else action?.();
});

/** By a part of the height in sight. */
function scrollBy(part: number): void {
  scroll += canvas.clientHeight * part;
  repaint();
}

function zoomBy(factor: number): void {
  const bar = barOf(selected);
  const inSight = bar !== undefined && bar.span.startedAt >= view.from && bar.span.startedAt <= view.to;
  look(zoom(view, factor, inSight ? bar.span.startedAt : (view.from + view.to) / 2));
}

function follow(on: boolean): void {
  setLive(on);
  if (on) look(followNow(view, Date.now()), true);
}

function element<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

function drawLegend(): void {
  const legend = element('legend', HTMLElement);
  legend.replaceChildren();
  const entries: [string, string, string][] = OUTCOMES.map((state) => [
    `${glyph(state)} ${stateWords(state)}`,
    palette.bars[state],
    '',
  ]);
  for (const [words, color, kind] of [...entries, ['waiting', palette.dim, 'waiting'] as const]) {
    const entry = document.createElement('span');
    const mark = document.createElement('i');
    mark.className = kind;
    mark.style.background = color;
    entry.append(mark, words);
    legend.append(entry);
  }
}

element('live', HTMLElement).addEventListener('click', () => follow(!live));
element('fit', HTMLElement).addEventListener('click', showAll);
element('in', HTMLElement).addEventListener('click', () => zoomBy(0.7));
element('out', HTMLElement).addEventListener('click', () => zoomBy(1 / 0.7));
new ResizeObserver(repaint).observe(canvas);
// A change of theme changes the body's class and the variables with it.
new MutationObserver(() => {
  palette = readPalette(document.documentElement);
  drawLegend();
  repaint();
}).observe(document.body, { attributes: true, attributeFilter: ['class'] });
// Running bars grow: four times a second is enough to see it, and nothing is painted while nothing runs.
setInterval(() => {
  if (state.running && document.visibilityState === 'visible') repaint();
}, 250);

setLive(live);
drawLegend();
canvas.focus();
host.postMessage({ type: 'ready' });
