/**
 * The worker's pulse. One statement renews all of its leases; each beat is also the moment to look
 * for what no commit announces: a stepped clock, a worker that died, ownership that moved.
 */

export interface Lease {
  /** Idempotent; resolves when no beat is under way. */
  stop(): Promise<void>;
}

/** Calls `beat` every `everyMs`, never two at a time; a machine's sleep counts as one. */
export function keepLease(everyMs: number, beat: () => Promise<void>): Lease {
  let beating: Promise<void> | null = null;
  const timer = setInterval(() => {
    beating ??= beat().finally(() => {
      beating = null;
    });
  }, everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await beating;
    },
  };
}
