/** The lines and names around a log, in words; pure, so that they can be read in a test. */
import { sayBytes, sayCount, sayDuration } from '../../../shared/format.ts';
import type { Attempt, FailureReason, Job } from '../../../shared/job.ts';
import { quoteArgv } from '../../../shared/shell.ts';
import { escapeControls, truncate } from '../../../shared/text.ts';

/** Columns of the command in a channel's name: the drop-down cuts longer ones. */
const TITLE_COLUMNS = 48;

/** `Laneway #12.1 npm test` */
export function logTitle(job: Pick<Job, 'id' | 'label' | 'argv'>, attempt: number): string {
  const command = escapeControls(job.label ?? quoteArgv(job.argv));
  return `Laneway #${job.id}.${attempt} ${truncate(command, TITLE_COLUMNS)}`;
}

/** The line in place of what stands before a bounded tail. */
export function omittedLine(bytes: number): string {
  return `[… ${sayBytes(bytes)} before this omitted; "Laneway: Open Log" shows the whole log]`;
}

export const TRUNCATED_LINE = '[the job cut its log short; it goes on from the start]';

/** The line about bytes that could not be shown, or null. */
export function undecodableLine(places: number): string | null {
  if (places === 0) return null;
  return `[${sayCount(places, 'place')} marked \uFFFD held bytes that are no UTF-8; the log file has them unchanged]`;
}

/** The last line of a log: how the attempt ended. */
export function endLine(attempt: Attempt): string {
  const took = attempt.durationMs === null ? '' : ` after ${sayDuration(attempt.durationMs)}`;
  return `[#${attempt.jobId}.${attempt.number} ${ending(attempt)}${took}]`;
}

function ending(attempt: Attempt): string {
  switch (attempt.state) {
    case 'running':
      return 'still runs';
    case 'succeeded':
      return attempt.exitCode === null ? 'went to sleep and will go on later' : 'succeeded';
    case 'timed_out':
      return 'was stopped at its timeout';
    case 'canceled':
      return 'was canceled';
    case 'abandoned':
      return `was abandoned${because(attempt)}`;
    case 'failed':
      return `failed${because(attempt)}`;
  }
}

function because(attempt: Attempt): string {
  if (attempt.error !== null) return ` (${escapeControls(attempt.error)})`;
  if (attempt.signal !== null) return ` with signal ${attempt.signal}`;
  if (attempt.failureReason === 'process_exit' || attempt.failureReason === null) {
    return attempt.exitCode === null ? '' : ` with exit code ${attempt.exitCode}`;
  }
  return `: ${reasonWords(attempt.failureReason)}`;
}

function reasonWords(reason: FailureReason): string {
  switch (reason) {
    case 'process_exit':
      return 'it ended with an error';
    case 'timeout':
      return 'it took longer than its timeout';
    case 'spawn_failed':
      return 'it could not be started';
    case 'worker_crash':
      return 'its worker died';
    case 'canceled':
      return 'it was canceled';
    case 'dependency':
      return 'a job it needs did not end well';
    case 'log_limit':
      return 'it wrote more than the log limit';
    case 'unknown':
      return 'the reason was not recorded';
  }
}
