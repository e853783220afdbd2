/** How a job, its states and its ending are called in trees, pickers and messages. Pure. */
import { sayDuration } from '../../../shared/format.ts';
import type { Attempt, Job } from '../../../shared/job.ts';
import { quoteArgv } from '../../../shared/shell.ts';
import { escapeControls, truncate } from '../../../shared/text.ts';

/** Columns a tree's label or a picker's line may take. */
const TITLE_WIDTH = 80;

/** The command as one line: shell text as typed, argv quoted so that pasting it gives the same argv. */
export function commandText(argv: readonly string[]): string {
  const [shell, flag, text] = argv;
  if (argv.length === 3 && shell === 'sh' && flag === '-c' && text !== undefined) return text;
  return quoteArgv(argv);
}

/** A job's label, else its command; control characters visible, cut to a line. */
export function jobTitle(job: Pick<Job, 'label' | 'argv'>): string {
  return truncate(escapeControls(job.label ?? commandText(job.argv)), TITLE_WIDTH);
}

/** `#12 npm test` */
export function jobName(job: Pick<Job, 'id' | 'label' | 'argv'>): string {
  return `#${job.id} ${jobTitle(job)}`;
}

/** How something ended: `exit 2`, `SIGKILL`, `timed out`, `its prerequisite failed`. Empty for a plain success. */
export function endingText(end: Pick<Attempt, 'exitCode' | 'signal' | 'failureReason'>): string {
  switch (end.failureReason) {
    case 'timeout':
      return 'timed out';
    case 'spawn_failed':
      return 'could not be started';
    case 'worker_crash':
      return 'its worker died';
    case 'dependency':
      return 'a prerequisite did not succeed';
    case 'log_limit':
      return 'printed more than the log limit';
    case 'canceled':
      return 'canceled';
    case 'process_exit':
    case 'unknown':
    case null:
      break;
  }
  if (end.signal !== null) return end.signal;
  return end.exitCode === null || end.exitCode === 0 ? '' : `exit ${end.exitCode}`;
}

/** `2 of 3` with a retry budget, else the bare number. */
export function attemptCount(job: Job): string {
  const most = job.maxRetries + 1;
  return job.attempts <= most && job.maxRetries > 0 ? `${job.attempts} of ${most}` : String(job.attempts);
}

/** Time since a moment, coarse enough not to repaint every second for an hour. */
export function elapsed(since: string, now: number): string {
  const ms = Math.max(0, now - Date.parse(since));
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  return sayDuration(ms < 3_600_000 ? Math.floor(ms / 5000) * 5000 : Math.floor(ms / 60_000) * 60_000);
}

/** `in 1 h 59 m`, to the second only within the last minute; `due` once it has come. */
export function until(due: string, now: number): string {
  const ms = Date.parse(due) - now;
  if (ms <= 0) return 'due';
  return `in ${sayDuration(Math.ceil(ms / (ms < 60_000 ? 1000 : 60_000)) * (ms < 60_000 ? 1000 : 60_000))}`;
}
