/** The attempts the page knows, and what changed last. Pure but for holding them. */
import type { Span } from '../../../../shared/protocol.ts';
import type { LaneNow, ToPage } from './messages.ts';
import { keyOf, layout, type Scene } from './scene.ts';

type Spans = Extract<ToPage, { type: 'spans' }>;

/** Attempts kept; the oldest are dropped past that. They come again when they are looked at. */
const MOST_SPANS = 20_000;

export class TimelineState {
  #spans = new Map<string, Span>();
  #lanes = new Map<string, LaneNow>();
  #scene: Scene | null = null;
  #sceneAt = 0;
  /** What was asked for so far, in one stretch; null before the first answer. */
  loaded: { from: number; to: number } | null = null;
  truncated = false;

  get lanes(): ReadonlyMap<string, LaneNow> {
    return this.#lanes;
  }

  get size(): number {
    return this.#spans.size;
  }

  /** Something runs, so the picture changes with time alone. */
  get running(): boolean {
    return [...this.#lanes.values()].some((lane) => lane.running > 0);
  }

  take(message: Spans): void {
    for (const span of message.spans) this.#spans.set(keyOf(span), span);
    if (this.#spans.size > MOST_SPANS) {
      const newestFirst = [...this.#spans.values()].sort((a, b) => b.startedAt - a.startedAt);
      this.#spans = new Map(newestFirst.slice(0, MOST_SPANS).map((span) => [keyOf(span), span]));
    }
    this.#lanes = new Map(message.lanes.map((lane) => [lane.name, lane]));
    // A truncated answer holds the newest attempts of what was asked; the rest is not loaded.
    const from = message.truncated
      ? Math.min(...message.spans.map((span) => span.startedAt), message.to)
      : message.from;
    const { loaded } = this;
    const touches = loaded !== null && from <= loaded.to && message.to >= loaded.from;
    this.loaded = touches
      ? { from: Math.min(from, loaded.from), to: Math.max(message.to, loaded.to) }
      : { from, to: message.to };
    if (message.truncated) this.truncated = true;
    else if (loaded === null || message.from <= loaded.from) this.truncated = false;
    this.#scene = null;
  }

  /** The geometry as of `now`; made anew when attempts changed, or a running one may need another row. */
  scene(now: number): Scene {
    if (this.#scene === null || (this.running && now - this.#sceneAt > 1000)) {
      this.#scene = layout([...this.#spans.values()], [...this.#lanes.keys()], now);
      this.#sceneAt = now;
    }
    return this.#scene;
  }
}
