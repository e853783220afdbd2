/**
 * Writing to stdout and stderr: at once and whole, so that the process may end right after, and
 * without loading streams. A slow reader slows us down, which bounds memory by itself.
 */
import fs from 'node:fs';
import { LanewayError, toErrorData } from '../../shared/errors.ts';
import { OutputClosed, type Terminal } from './verb.ts';

const WAIT = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes everything to a descriptor.
 * @throws OutputClosed when the reader is gone
 */
export function writeAll(fd: number, data: string | Uint8Array): void {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data;
  for (let at = 0; at < bytes.length;) {
    try {
      at += fs.writeSync(fd, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Another process sharing the pipe made it non-blocking, and it is full.
      if (code === 'EAGAIN') Atomics.wait(WAIT, 0, 0, 5);
      else if (code === 'EPIPE' || code === 'EBADF' || code === 'EOF') throw new OutputClosed();
      else throw unwritten(fd, error);
    }
  }
}

/** Such as a full disk behind a redirection. */
function unwritten(fd: number, error: unknown): LanewayError {
  const { message, hint } = toErrorData(error);
  const what = fd === 2 ? 'stderr' : 'stdout';
  return new LanewayError('ENVIRONMENT', `${what} cannot be written: ${message}`, hint, { cause: error });
}

/** What the process's streams are, and whether colour is wanted on stdout. */
export function readTerminal(env: Readonly<Record<string, string | undefined>>): Terminal {
  const isTty = isTerminal(1);
  return {
    isTty,
    progress: isTerminal(2) && env['TERM'] !== 'dumb',
    interactive: isTerminal(0),
    colour: wantsColour(env, isTty),
    columns: isTty ? (process.stdout.columns ?? 80) : Number.POSITIVE_INFINITY,
  };
}

/** NO_COLOR (not empty) wins, then FORCE_COLOR (not empty, 0 or false), then the terminal. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTty: boolean): boolean {
  if (env['NO_COLOR']) return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined && forced !== '') return forced !== '0' && forced !== 'false';
  return isTty && env['TERM'] !== 'dumb';
}

/** Only character devices can be terminals: asking the system first spares loading node:tty for pipes. */
function isTerminal(fd: number): boolean {
  try {
    if (process.platform !== 'win32' && !fs.fstatSync(fd).isCharacterDevice()) return false;
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(fd);
}
