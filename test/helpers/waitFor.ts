/** Waiting for a condition: the only way a test of ours waits. */
import { setTimeout as pause } from 'node:timers/promises';

export interface WaitOptions {
  /** Milliseconds until the wait fails; generous, since it only bounds a failure. Default 60 s. */
  deadlineMs?: number;
  /** Said in the failure: what was awaited. */
  what?: string;
}

/**
 * Evaluates `condition` until it gives something truthy, and returns that.
 * @throws Error naming what was awaited, with the condition's last error or value.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = 60_000, what = 'the condition' }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  let last: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
      last = value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(
        `waited ${deadlineMs} ms for ${what}; last: ${last instanceof Error ? last.message : String(last)}`,
      );
    }
    await pause(10);
  }
}
