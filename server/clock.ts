/** The clock of production; tests bring their own. */
import type { Clock } from './store/api.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
};
