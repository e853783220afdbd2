/** Verbs that take long outlive the server they talk to: they dial again and go on from where they were. */
import type { Connection } from '../../shared/connection.ts';
import { LanewayError } from '../../shared/errors.ts';
import { ConnectionLost } from '../../shared/rpc.ts';
import type { Context } from './verb.ts';

/** Losses in a row, each sooner than this many milliseconds after connecting, that are no accident any more. */
const MAX_LOSSES = 5;
const SOON_MS = 2000;

/** Thrown by `use` when the server ended its side in good order before `use` was done. */
export class ServerEnded extends Error {}

/**
 * Runs `use` on the open queue, and again on a new connection whenever the old one was lost.
 * `use` must keep outside of itself whatever it must not do twice.
 * @throws whatever `use` throws besides; ENVIRONMENT when servers keep ending under it.
 */
export async function persist<T>(context: Context, use: (connection: Connection) => Promise<T>): Promise<T> {
  let losses = 0;
  for (;;) {
    const connection = await context.open({ execute: true });
    const since = performance.now();
    try {
      return await use(connection);
    } catch (error) {
      if (error instanceof ServerEnded) await connection.close();
      else if (!(error instanceof ConnectionLost)) throw error;
      losses = performance.now() - since < SOON_MS ? losses + 1 : 1;
      if (losses >= MAX_LOSSES) {
        throw new LanewayError(
          'ENVIRONMENT',
          `The server ended ${losses} times in a row`,
          'See "lane server logs". With --direct the command works without a server.',
          { cause: error },
        );
      }
      await connection.closed;
    }
  }
}
