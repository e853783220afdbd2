/**
 * How often pictures of what moves are made anew. A single change is shown at once; while changes keep coming, eyes need
 * only two pictures a second, and the editor repaints a whole branch for each.
 */

/** A change is pulled this soon after its hint, in milliseconds. */
const PROMPT_MS = 100;
/** The same while changes keep coming. */
const BUSY_MS = 500;
/** Pulls that follow one another within this many milliseconds, so many in a row, are such a time. */
const STREAK_MS = 1500;
const STREAK = 5;

/** The gap before the next pull, by how the last ones followed one another. */
export class PullPace {
  #last = Number.NEGATIVE_INFINITY;
  #streak = 0;

  /** A pull begins at `now` (milliseconds of any steady clock). */
  began(now: number): void {
    this.#streak = now - this.#last < STREAK_MS ? this.#streak + 1 : 0;
    this.#last = now;
  }
  /** Milliseconds. */
  get gap(): number {
    return this.#streak < STREAK ? PROMPT_MS : BUSY_MS;
  }
}

/** Does something at most once per `gapMs`: at once for the first call, and once more for all that came meanwhile. */
export class Spaced {
  readonly #work: () => void;
  readonly #gapMs: number;
  #timer: NodeJS.Timeout | null = null;
  #last = Number.NEGATIVE_INFINITY;

  constructor(gapMs: number, work: () => void) {
    this.#gapMs = gapMs;
    this.#work = work;
  }
  call(): void {
    if (this.#timer) return;
    const wait = this.#last + this.#gapMs - performance.now();
    if (wait > 0) this.#timer = setTimeout(() => this.#run(), wait);
    else this.#run();
  }
  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
  #run(): void {
    this.#timer = null;
    this.#last = performance.now();
    this.#work();
  }
}
