/**
 * Getting an editor on a machine that may be slow, loaded or offline is a row of steps that can
 * each hang. Every step has a name, a deadline and one more try, and says in its failure what
 * to do; so a red run names the step that broke and never waits for the CI's own limit.
 */

export interface StepOptions {
  /** Milliseconds one try may take. */
  deadlineMs: number;
  /** What a person does about it, in the failure. */
  hint?: string;
  /** Tries in all; 2 unless the step cannot be repeated. */
  tries?: number;
}

export class StepError extends Error {
  override readonly name = 'StepError';
}

/**
 * Runs `action` under a deadline, again if it fails. The signal is aborted when a try is over, so
 * what the try started can be ended by it.
 * @throws StepError naming the step, the last cause and the hint.
 */
export async function step<T>(
  name: string,
  { deadlineMs, hint, tries = 2 }: StepOptions,
  action: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  let last: unknown;
  for (let nth = 1; nth <= tries; nth += 1) {
    const controller = new AbortController();
    try {
      return await withDeadline(action(controller.signal), deadlineMs);
    } catch (error) {
      last = error;
      controller.abort();
      if (nth < tries) say(`${name}: ${messageOf(error)}; trying once more`);
    }
  }
  throw new StepError(`${name} failed: ${messageOf(last)}${hint === undefined ? '' : `\n  ${hint}`}`, { cause: last });
}

/** Rejects when `promise` has not settled within the deadline. */
export async function withDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${Math.round(deadlineMs / 1000)} s`)), deadlineMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => undefined);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One line about progress on stderr: stdout is kept for the tests' own lines. */
export function say(line: string): void {
  process.stderr.write(`# ${line}\n`);
}
