/** Ends a server that nobody needs: no client, nothing live, for as long as the setting says. */
import { MAX_TIMER_MS } from '../shared/limits.ts';
import type { Clock } from './store/api.ts';

export interface IdleWatch {
  /** Something happened: count from now on. Needed after `onIdle` too, or nothing is counted any more. */
  touch(): void;
  stop(): void;
}

export interface IdleOptions {
  clock: Clock;
  /** Asked at each look: the setting may change. */
  idleMs: () => number;
  busy: () => boolean;
  onIdle: () => void;
}

/** How often a long time of idleness is looked at. */
const LOOKS = 10;
const LEAST_MS = 20;
const MOST_MS = 30_000;

export function watchIdle({ clock, idleMs, busy, onIdle }: IdleOptions): IdleWatch {
  let since = clock.ticks();
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  const arm = (): void => {
    if (stopped) return;
    const wait = Math.min(MOST_MS, Math.max(LEAST_MS, idleMs() / LOOKS), MAX_TIMER_MS);
    timer = setTimeout(look, wait);
    timer.unref();
  };
  const look = (): void => {
    if (busy()) since = clock.ticks();
    if (clock.ticks() - since >= idleMs()) onIdle();
    else arm();
  };
  arm();
  return {
    touch() {
      since = clock.ticks();
      if (timer !== null) clearTimeout(timer);
      arm();
    },
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
