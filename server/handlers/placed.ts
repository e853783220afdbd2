/** An attempt as clients see it: with its log paths where the files are now, if the queue was moved since. */
import type { Attempt } from '../../shared/job.ts';
import { locateLog } from '../logs/paths.ts';

export function placed(attempt: Attempt, logs: string): Attempt {
  const now = (recorded: string | null): string | null => (recorded === null ? null : locateLog(logs, recorded));
  return { ...attempt, stdoutPath: now(attempt.stdoutPath), stderrPath: now(attempt.stderrPath) };
}
