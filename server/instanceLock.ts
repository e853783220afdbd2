/**
 * One server per queue. The lock dies with its holder, so there is nothing stale to judge; whoever
 * does not get it looks whether the holder answers, and takes the lock when the holder dies meanwhile.
 */
import { LanewayError } from '../shared/errors.ts';
import type { StatePaths } from '../shared/paths.ts';
import { otherSocket } from '../shared/serverSocket.ts';
import type { FileLock } from './store/fileLock.ts';
import { tryFileLock } from './store/fileLock.ts';
import { toStoreError } from './store/sqliteErrors.ts';

/** Milliseconds a holder gets to answer: it may be opening (or migrating) its database. */
const HOLDER_MS = 20_000;
const TRY_EVERY_MS = 30;

export interface ElectionParts {
  /** True when somebody answers on the socket. */
  answers: (socket: string) => Promise<boolean>;
  ticks: () => number;
  pause: (ms: number) => Promise<unknown>;
}

/**
 * The lock, or null when another server has it and answers.
 * @throws ENVIRONMENT when the holder does not answer, or the lock's file cannot be used.
 */
export async function elect(paths: StatePaths, parts: ElectionParts): Promise<FileLock | null> {
  const end = parts.ticks() + HOLDER_MS;
  for (;;) {
    const lock = await tryFileLock(paths.lock).catch((error: unknown) => {
      throw toStoreError(error, paths.lock);
    });
    if (lock !== null) return lock;
    const other = otherSocket(paths);
    if ((await parts.answers(paths.socket)) || (other !== null && (await parts.answers(other)))) return null;
    if (parts.ticks() > end) {
      throw new LanewayError(
        'ENVIRONMENT',
        `another server holds ${paths.lock} but does not answer`,
        'End it (lane doctor names its process), or restart the computer',
      );
    }
    await parts.pause(TRY_EVERY_MS);
  }
}
