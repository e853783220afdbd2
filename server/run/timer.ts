/** Timers longer than a runtime can hold: clamped, looked at again, and armed anew. */
import { MAX_TIMER_MS } from '../../shared/limits.ts';
import type { Clock } from '../store/api.ts';

/** Call `then` once `clock.ticks()` has reached `at`. Returns the function that calls it off. */
export function atTick(clock: Clock, at: number, then: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = () => {
    const left = at - clock.ticks();
    // A timer may fire a fraction of a millisecond early.
    timer = setTimeout(
      () => (clock.ticks() < at ? arm() : then()),
      Math.min(Math.max(Math.ceil(left), 0), MAX_TIMER_MS),
    );
  };
  arm();
  return () => clearTimeout(timer);
}
