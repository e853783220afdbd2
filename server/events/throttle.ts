/**
 * Runs an action at once when asked the first time, and from then on at most once per interval,
 * with nothing lost: what was asked for meanwhile happens at the interval's end.
 */
export interface Throttle {
  ask(): void;
  stop(): void;
}

/** @param intervalMs the least time between two runs. */
export function throttle(intervalMs: number, ticks: () => number, action: () => void): Throttle {
  let last = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let stopped = false;
  const run = (): void => {
    timer = null;
    last = ticks();
    action();
  };
  return {
    ask() {
      if (stopped || timer !== null) return;
      // Never within the asker's own call: it may be in the middle of something.
      timer = setTimeout(run, Math.max(0, last + intervalMs - ticks()));
    },
    stop() {
      stopped = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
