/**
 * What the end of an attempt means for its job: a pure decision, from the job's budgets, what was
 * asked of it meanwhile, and how the attempt ended. finish.ts carries it out.
 */
import type { AttemptState, FailureReason } from '../../../shared/job.ts';
import type { AttemptEnd } from '../api.ts';

/** What the decision rests on. Durations in ms. */
export interface Standing {
  failures: number;
  crashes: number;
  maxRetries: number;
  maxCrashes: number;
  retryDelayMs: number;
  retryMaxDelayMs: number;
  cancelRequested: boolean;
  retryForced: boolean;
  /** The durable sleep that this attempt recorded. */
  sleep: { name: string; until: number } | null;
}

/** How the attempt is closed. */
export interface AttemptClose {
  state: Exclude<AttemptState, 'running'>;
  reason: FailureReason | null;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
}

export type Next =
  | { to: 'done' }
  | { to: 'dead'; reason: FailureReason; failures: number; crashes: number }
  | { to: 'canceled' }
  /** Again after a backoff. `because` names what was spent, or that nothing was. */
  | {
      to: 'backoff';
      because: 'failure' | 'crash' | 'machine_trouble';
      delayMs: number;
      failures: number;
      crashes: number;
    }
  /** Again at once: its worker was stopped. */
  | { to: 'again' }
  /** Again at once with fresh budgets: a forced retry cancelled the attempt. */
  | { to: 'forced' }
  | { to: 'asleep'; name: string; until: number };

export interface Ending {
  attempt: AttemptClose;
  next: Next;
}

/** The wait before retry (or crash) number `n`, from 1, ms. */
export function backoff(baseMs: number, capMs: number, n: number): number {
  return Math.min(capMs, baseMs * 2 ** Math.min(n - 1, 40));
}

/** The end of an attempt that its own worker saw. */
export function decideEnd(job: Standing, end: AttemptEnd): Ending {
  const { exitCode, signal, error } = end;
  const ok = exitCode === 0 && (end.kind === 'exited' || end.kind === 'stopped');
  const asked = job.cancelRequested || job.retryForced;
  // Exit 0 counts, whatever was asked meanwhile, if it was seen before any signal went out.
  if (ok && (!end.signalled || (end.kind === 'exited' && !asked))) {
    return { attempt: { state: 'succeeded', reason: null, exitCode, signal, error: null }, next: { to: 'done' } };
  }
  if (asked) return cancelled(job, { exitCode, signal, error });
  switch (end.kind) {
    case 'stopped':
      return {
        attempt: { state: 'abandoned', reason: null, exitCode, signal, error: error ?? 'its worker was stopped' },
        next: { to: 'again' },
      };
    case 'machine_trouble':
      return {
        attempt: { state: 'abandoned', reason: 'spawn_failed', exitCode, signal, error },
        next: {
          to: 'backoff',
          because: 'machine_trouble',
          delayMs: backoff(job.retryDelayMs, job.retryMaxDelayMs, 1),
          failures: job.failures,
          crashes: job.crashes,
        },
      };
    case 'exited':
      if (job.sleep !== null && exitCode !== null) {
        return {
          attempt: { state: 'succeeded', reason: null, exitCode: null, signal: null, error: null },
          next: { to: 'asleep', ...job.sleep },
        };
      }
      return failed(job, { state: 'failed', reason: 'process_exit', exitCode, signal, error });
    case 'timed_out':
      return failed(job, { state: 'timed_out', reason: 'timeout', exitCode, signal, error });
    case 'log_limit':
      return failed(job, { state: 'failed', reason: 'log_limit', exitCode, signal, error });
    case 'spawn_failed':
      return failed(job, { state: 'failed', reason: 'spawn_failed', exitCode, signal, error });
    default:
      return end.kind satisfies never;
  }
}

/** The end of an attempt whose worker is gone: nobody saw it. */
export function decideReaped(job: Standing): Ending {
  const nothing = { exitCode: null, signal: null };
  if (job.cancelRequested || job.retryForced) {
    return cancelled(job, { ...nothing, error: 'its worker was gone before the cancellation was carried out' });
  }
  const crashes = job.crashes + 1;
  const spent = { failures: job.failures, crashes };
  return {
    attempt: { state: 'abandoned', reason: 'worker_crash', ...nothing, error: 'its worker was gone' },
    next:
      crashes <= job.maxCrashes
        ? {
            to: 'backoff',
            because: 'crash',
            delayMs: backoff(job.retryDelayMs, job.retryMaxDelayMs, crashes),
            ...spent,
          }
        : { to: 'dead', reason: 'worker_crash', ...spent },
  };
}

function failed(job: Standing, attempt: AttemptClose & { reason: FailureReason }): Ending {
  const failures = job.failures + 1;
  const spent = { failures, crashes: job.crashes };
  const next: Next =
    failures <= job.maxRetries
      ? {
          to: 'backoff',
          because: 'failure',
          delayMs: backoff(job.retryDelayMs, job.retryMaxDelayMs, failures),
          ...spent,
        }
      : { to: 'dead', reason: attempt.reason, ...spent };
  return { attempt, next };
}

function cancelled(job: Standing, seen: Pick<AttemptClose, 'exitCode' | 'signal' | 'error'>): Ending {
  return {
    attempt: { state: 'canceled', reason: 'canceled', ...seen },
    next: job.retryForced ? { to: 'forced' } : { to: 'canceled' },
  };
}
