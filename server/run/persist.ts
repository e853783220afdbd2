/**
 * Writes that must not be lost while this process lives: the end of an attempt is known to nobody
 * else. A full disk or a lock held for minutes delays them; a database that is no longer ours to
 * write ends them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LanewayError } from '../../shared/errors.ts';
import type { Store, Tx } from '../store/api.ts';

export type Persist = <T>(what: string, transition: (tx: Tx) => T) => Promise<T>;

const FIRST_RETRY_MS = 200;
const LONGEST_RETRY_MS = 10_000;

/**
 * Writes within the caller's tick, then again after a pause until it is in.
 * @throws LanewayError when no later try could succeed, or `givesUp` says so.
 */
export function createPersist(
  store: Store,
  givesUp: (tries: number) => boolean,
  log: (message: string) => void,
): Persist {
  return async (what, transition) => {
    for (let delay = FIRST_RETRY_MS, tries = 1; ; delay = Math.min(delay * 2, LONGEST_RETRY_MS), tries += 1) {
      try {
        return await store.write(transition);
      } catch (error) {
        if (isFinal(error) || givesUp(tries)) throw error;
        log(`cannot record ${what}, trying again in ${delay} ms: ${(error as Error).message}`);
      }
      await pause(delay);
    }
  };
}

function isFinal(error: unknown): boolean {
  if (!(error instanceof LanewayError)) return false;
  // A fault of ours, or a database of another kind now: the same call would fail the same way.
  return ['SCHEMA_NEWER', 'CORRUPT', 'INVALID_INPUT', 'CONFLICT', 'NOT_FOUND', 'REFUSED'].includes(error.code);
}
