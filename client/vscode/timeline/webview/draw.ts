/** Paints the part of a scene that is in sight. Only visible rows and bars are touched. */
import type { LaneNow } from './messages.ts';
import type { Palette } from './palette.ts';
import { type Bar, barsBetween, endOf, HEADING_HEIGHT, keyOf, ROW_HEIGHT, rowsBetween, type Scene } from './scene.ts';
import { ticks, type View, xOf } from './view.ts';

/** Pixels of the axis at the top, which does not scroll. */
export const AXIS_HEIGHT = 24;
const BAR_INSET = 3;
/** Narrower bars than this are widened to be seen and hit. */
const LEAST_WIDTH = 2;
/** A label needs about this much. */
const LABEL_WIDTH = 44;
/** The sign of how it ended needs this much. */
const SIGN_WIDTH = 16;

export interface Picture {
  scene: Scene;
  view: View;
  /** CSS pixels. */
  width: number;
  height: number;
  scroll: number;
  now: number;
  lanes: ReadonlyMap<string, LaneNow>;
  selected: string | null;
  hovered: string | null;
  /** The job whose attempts are linked strongly. */
  job: number | null;
  offsetMs: number;
}

export function draw(canvas: CanvasRenderingContext2D, picture: Picture, palette: Palette): void {
  const { width, height, scene, view } = picture;
  canvas.fillStyle = palette.background;
  canvas.fillRect(0, 0, width, height);
  canvas.font = palette.font;
  canvas.textBaseline = 'middle';
  drawGrid(canvas, picture, palette);
  canvas.save();
  canvas.beginPath();
  canvas.rect(0, AXIS_HEIGHT, width, height - AXIS_HEIGHT);
  canvas.clip();
  canvas.translate(0, AXIS_HEIGHT - picture.scroll);
  const top = picture.scroll;
  const bottom = picture.scroll + height - AXIS_HEIGHT;
  const rows = rowsBetween(scene.rows, top, bottom);
  for (const row of rows)
    for (const bar of visible(row.bars, picture)) drawWaiting(canvas, bar, row.top, picture, palette);
  for (const row of rows) for (const bar of visible(row.bars, picture)) drawBar(canvas, bar, row.top, picture, palette);
  drawLinks(canvas, picture, palette, top, bottom);
  drawHeadings(canvas, picture, palette, top, bottom);
  const present = xOf(view, width, picture.now);
  if (present >= 0 && present <= width) {
    canvas.fillStyle = palette.focus;
    canvas.fillRect(present, top, 1, bottom - top);
  }
  canvas.restore();
}

function visible(bars: readonly Bar[], { view, now }: Picture): readonly Bar[] {
  return barsBetween(bars, view.from, view.to, now);
}

function drawGrid(canvas: CanvasRenderingContext2D, picture: Picture, palette: Palette): void {
  const { view, width, height } = picture;
  for (const tick of ticks(view, width, 110, picture.offsetMs)) {
    const x = Math.round(xOf(view, width, tick.at));
    canvas.globalAlpha = palette.contrast === null ? 0.12 : 0.4;
    canvas.fillStyle = palette.text;
    canvas.fillRect(x, 0, 1, height);
    canvas.globalAlpha = 1;
    canvas.fillStyle = palette.dim;
    canvas.fillText(tick.label, x + 4, AXIS_HEIGHT / 2);
  }
  canvas.globalAlpha = palette.contrast === null ? 0.25 : 1;
  canvas.fillStyle = palette.text;
  canvas.fillRect(0, AXIS_HEIGHT - 1, width, 1);
  canvas.globalAlpha = 1;
}

/** The time before an attempt: a thin line that leads to its bar. */
function drawWaiting(
  canvas: CanvasRenderingContext2D,
  { span }: Bar,
  top: number,
  { view, width }: Picture,
  palette: Palette,
): void {
  const from = Math.max(0, xOf(view, width, span.waitingSince));
  const to = xOf(view, width, span.startedAt);
  if (to - from < 1) return;
  canvas.globalAlpha = 0.6;
  canvas.fillStyle = palette.dim;
  canvas.fillRect(from, top + ROW_HEIGHT / 2 - 1, to - from, 2);
  canvas.fillRect(from, top + ROW_HEIGHT / 2 - 4, 1, 8);
  canvas.globalAlpha = 1;
}

function drawBar(canvas: CanvasRenderingContext2D, bar: Bar, top: number, picture: Picture, palette: Palette): void {
  const { span } = bar;
  const { view, width, now } = picture;
  const from = Math.max(-4, xOf(view, width, span.startedAt));
  const to = Math.min(width + 4, xOf(view, width, endOf(span, now)));
  const wide = Math.max(LEAST_WIDTH, to - from);
  const y = top + BAR_INSET;
  const tall = ROW_HEIGHT - 2 * BAR_INSET;
  const key = keyOf(span);
  const color = palette.bars[span.state];
  canvas.beginPath();
  canvas.roundRect(from, y, wide, tall, Math.min(3, wide / 2));
  // A fill over the background keeps labels readable in light and dark themes alike.
  canvas.fillStyle = palette.background;
  canvas.fill();
  canvas.fillStyle = color;
  canvas.globalAlpha = wide < 8 ? 1 : key === picture.hovered ? 0.55 : 0.4;
  canvas.fill();
  canvas.globalAlpha = 1;
  if (wide >= 4) {
    canvas.fillRect(from, y, 2, tall);
    canvas.strokeStyle = color;
    canvas.lineWidth = 1;
    canvas.stroke();
  }
  if (key === picture.selected) {
    canvas.strokeStyle = palette.focus;
    canvas.lineWidth = 2;
    canvas.strokeRect(from - 1, y - 1, wide + 2, tall + 2);
  }
  if (wide > LABEL_WIDTH) {
    canvas.save();
    canvas.beginPath();
    canvas.rect(from, y, wide - 4, tall);
    canvas.clip();
    canvas.fillStyle = palette.text;
    canvas.fillText(
      `${glyph(span.state)} #${span.jobId}${span.attempt > 1 ? `.${span.attempt}` : ''} ${span.title}`,
      Math.max(from, 0) + 7,
      top + ROW_HEIGHT / 2 + 1,
    );
    canvas.restore();
  } else if (wide >= SIGN_WIDTH) {
    canvas.fillStyle = palette.text;
    canvas.textAlign = 'center';
    canvas.fillText(glyph(span.state), from + wide / 2 + 1, top + ROW_HEIGHT / 2 + 1);
    canvas.textAlign = 'start';
  }
}

/** Not by colour alone. */
export function glyph(state: Bar['span']['state']): string {
  switch (state) {
    case 'running':
      return '▸';
    case 'succeeded':
      return '✓';
    case 'failed':
      return '✗';
    case 'timed_out':
      return '◷';
    case 'abandoned':
      return '⚡';
    case 'canceled':
      return '⊘';
    default:
      return state satisfies never;
  }
}

/** From the end of an attempt to the start of the job's next one. */
function drawLinks(
  canvas: CanvasRenderingContext2D,
  picture: Picture,
  palette: Palette,
  top: number,
  bottom: number,
): void {
  const { scene, view, width, now } = picture;
  canvas.strokeStyle = palette.text;
  canvas.setLineDash([3, 3]);
  for (const { from, to } of scene.links) {
    if (to.span.startedAt < view.from || endOf(from.span, now) > view.to) continue;
    const y1 = (scene.rows[from.row]?.top ?? 0) + ROW_HEIGHT / 2;
    const y2 = (scene.rows[to.row]?.top ?? 0) + ROW_HEIGHT / 2;
    if (Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
    const x1 = xOf(view, width, endOf(from.span, now));
    const x2 = xOf(view, width, to.span.startedAt);
    const strong = picture.job === from.span.jobId;
    canvas.globalAlpha = strong ? 1 : 0.45;
    canvas.lineWidth = strong ? 2 : 1;
    // Its highest point is three quarters of this: below the lane's heading, which would cover it.
    const lift = y1 === y2 ? Math.min(ROW_HEIGHT * 0.6, 6 + (x2 - x1) / 8) : 0;
    canvas.beginPath();
    canvas.moveTo(x1, y1);
    canvas.bezierCurveTo(x1 + (x2 - x1) / 3, y1 - lift, x2 - (x2 - x1) / 3, y2 - lift, x2, y2);
    canvas.stroke();
  }
  canvas.setLineDash([]);
  canvas.globalAlpha = 1;
}

function drawHeadings(
  canvas: CanvasRenderingContext2D,
  picture: Picture,
  palette: Palette,
  top: number,
  bottom: number,
): void {
  for (const lane of picture.scene.lanes) {
    if (lane.top + lane.height < top || lane.top > bottom) continue;
    // A tall lane keeps its name in sight.
    const y = Math.min(Math.max(lane.top, top), lane.top + lane.height - HEADING_HEIGHT);
    canvas.fillStyle = palette.gutter;
    canvas.fillRect(0, y, picture.width, HEADING_HEIGHT - 2);
    canvas.fillStyle = palette.text;
    // Where themes tell areas apart by lines instead of shades.
    if (palette.contrast !== null && y > top) canvas.fillRect(0, y, picture.width, 1);
    canvas.fillText(lane.name, 12, y + HEADING_HEIGHT / 2 - 1);
    const now = picture.lanes.get(lane.name);
    if (now === undefined) continue;
    const x = 12 + canvas.measureText(lane.name).width + 14;
    canvas.fillStyle = palette.dim;
    const waiting = now.waiting > 0 ? ` · ${now.waiting} waiting` : '';
    canvas.fillText(
      `${now.running}/${now.slots}${waiting}${now.paused ? ' · paused' : ''}`,
      x,
      y + HEADING_HEIGHT / 2 - 1,
    );
  }
}
