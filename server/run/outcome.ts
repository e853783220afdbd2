/** From what was seen of a process to how its attempt ended. Pure. */
import { formatDuration } from '../../shared/duration.ts';
import type { AttemptEnd, LogSizes } from '../store/api.ts';

export interface Exit {
  code: number | null;
  signal: string | null;
}

/** Why an attempt was stopped from outside, with what its message needs. */
export type Stop =
  | { reason: 'cancel' }
  | { reason: 'stop' }
  | { reason: 'timeout'; timeoutMs: number }
  | { reason: 'log_limit'; limit: number };

/**
 * `stop` is what was asked for first, `signalled` whether any signal was sent for it: a process
 * that had ended by itself before that keeps the ending it chose.
 */
export function outcome(exit: Exit, stop: Stop | null, signalled: boolean, sizes: LogSizes): AttemptEnd {
  const ended = { exitCode: exit.code, signal: exit.signal, ...sizes, signalled };
  if (stop === null || !signalled) return { kind: 'exited', error: null, ...ended };
  switch (stop.reason) {
    case 'cancel':
      return { kind: 'exited', error: null, ...ended };
    case 'stop':
      return { kind: 'stopped', error: 'its worker was told to stop', ...ended };
    case 'timeout':
      return {
        kind: 'timed_out',
        error: `it ran longer than its timeout of ${formatDuration(stop.timeoutMs)}`,
        ...ended,
      };
    case 'log_limit':
      return { kind: 'log_limit', error: `it wrote more than the log limit of ${stop.limit} bytes`, ...ended };
    default:
      return stop satisfies never;
  }
}

/** A failing or stopped attempt may run again, and two copies never run at once: what it left must go first. */
export function mustClearGroup(exit: Exit): boolean {
  return exit.code !== 0;
}
