/** States, endings and waits in words: a symbol and a word each, so that colour never says anything alone. */
import { sayDuration, sayMoment } from '../../../shared/format.ts';
import type { Attempt, FailureReason, Job, Phase } from '../../../shared/job.ts';
import { quoteArgv } from '../../../shared/shell.ts';
import { escapeControls } from '../../../shared/text.ts';
import type { Cell } from './table.ts';
import { paint, type Style, type View } from './view.ts';

type Mark = readonly [symbol: string, word: string, style: Style];

const PHASES: Readonly<Record<Phase, Mark>> = {
  blocked: ['◌', 'blocked', 'magenta'],
  queued: ['○', 'queued', 'cyan'],
  ready: ['○', 'queued', 'cyan'],
  scheduled: ['◷', 'scheduled', 'cyan'],
  retrying: ['↻', 'retrying', 'yellow'],
  running: ['▶', 'running', 'blue'],
  done: ['✔', 'done', 'green'],
  dead: ['✖', 'dead', 'red'],
  canceled: ['⊘', 'canceled', 'dim'],
};

/** A job's phase with its symbol, for a table. `ready` is called what it is stored as: queued. */
export function stateCell(phase: Phase): Cell {
  const [symbol, word, style] = PHASES[phase];
  return { text: `${symbol} ${word}`, style };
}

export function stateText(phase: Phase, view: View): string {
  const { text, style } = stateCell(phase);
  return paint(view, style, text);
}

const ATTEMPTS: Readonly<Record<Attempt['state'], Mark>> = {
  running: ['▶', 'running', 'blue'],
  succeeded: ['✔', 'succeeded', 'green'],
  failed: ['✖', 'failed', 'red'],
  timed_out: ['✖', 'timed out', 'red'],
  abandoned: ['!', 'abandoned', 'yellow'],
  canceled: ['⊘', 'canceled', 'dim'],
};

export function attemptState(state: Attempt['state'], view: View): string {
  const [symbol, word, style] = ATTEMPTS[state];
  return paint(view, style, `${symbol} ${word}`);
}

const REASONS: Readonly<Record<FailureReason, string>> = {
  process_exit: 'it failed',
  timeout: 'timed out',
  spawn_failed: 'could not be started',
  worker_crash: 'its worker died',
  canceled: 'canceled',
  dependency: 'a job it needs did not succeed',
  log_limit: 'printed more than the log limit',
  unknown: 'reason not recorded',
};

/** How something ended, in words: `exit 1`, `SIGKILL`, `timed out`; null when there is nothing to add. */
export function ending(end: Pick<Job, 'exitCode' | 'signal' | 'failureReason'>): string | null {
  const { exitCode, signal, failureReason } = end;
  if (failureReason !== null && failureReason !== 'process_exit') return REASONS[failureReason];
  if (signal !== null) return `ended by ${escapeControls(signal)}`;
  if (exitCode !== null && exitCode !== 0) return `exit ${exitCode}`;
  return failureReason === null ? null : REASONS[failureReason];
}

/** What the job is called: its label, else its command line. Escaped. */
export function title(job: Pick<Job, 'label' | 'argv'>): string {
  return escapeControls(job.label ?? commandOf(job));
}

/** The command line so that a shell reads back the same argv; shell text as itself. */
export function commandOf(job: Pick<Job, 'argv'>, platform: NodeJS.Platform = process.platform): string {
  return quoteArgv(job.argv, platform);
}

/** When it happened last, relative to now: started, ended, or since when it waits. */
export function moment(job: Job, view: View): string {
  if (job.state === 'running') {
    return job.startedAt === null ? '' : `for ${sayDuration(Math.max(0, view.now - Date.parse(job.startedAt)))}`;
  }
  return sayMoment(job.finishedAt ?? job.createdAt, view.now);
}

/** Why the job waits, its moments relative to now. */
export function waits(job: Job, view: View): string | null {
  return (
    job.waitReason?.replace(/\bat (\d{4}-\d\d-\d\dT[\d:.]+Z)/g, (_, at: string) => sayMoment(at, view.now)) ?? null
  );
}

/** What is worth a remark: why it waits, how it ended, how long it took. */
export function remark(job: Job, view: View): string {
  switch (job.state) {
    case 'blocked':
    case 'queued':
      return waits(job, view) ?? '';
    case 'running':
      return job.cancelRequested ? 'being canceled' : job.attempts > 1 ? `attempt ${job.attempts}` : '';
    case 'done':
      return job.startedAt === null || job.finishedAt === null
        ? ''
        : `took ${sayDuration(Date.parse(job.finishedAt) - Date.parse(job.startedAt))}`;
    case 'dead':
    case 'canceled': {
      const end = ending(job) ?? '';
      return end === 'canceled' ? '' : end;
    }
    default:
      return job.state satisfies never;
  }
}
