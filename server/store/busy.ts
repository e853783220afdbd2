/**
 * Waiting for a lock of another process. SQLite's own waiting blocks the event loop and is unfair:
 * beside tight writers some processes starve for seconds. So each try is short and the waits
 * between tries are ours, with jitter, while the loop goes on.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from './api.ts';
import { isBusy } from './sqliteErrors.ts';

export interface Patience {
  clock: Clock;
  /** Milliseconds of the monotonic clock after which the busy error is passed on. */
  deadlineMs: number;
}

/** The longest wait between two tries, ms. */
const LONGEST_MS = 40;

/** Runs `attempt` until it does not meet a busy database; its other errors are passed on at once. */
export async function whileBusy<T>(attempt: () => T, { clock, deadlineMs }: Patience): Promise<T> {
  const end = clock.ticks() + deadlineMs;
  for (let longest = 4; ; longest = Math.min(longest * 2, LONGEST_MS)) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || clock.ticks() >= end) throw error;
    }
    await pause(1 + Math.random() * longest);
  }
}
