/** One job with everything about it: facts, what it needs and who needs it, stages, attempts with their events. */
import { formatDuration } from '../../../shared/duration.ts';
import { sayBytes, sayCount, sayMoment, sayTime } from '../../../shared/format.ts';
import type { TimelineEntry } from '../../../shared/event.ts';
import type { Attempt, Checkpoint, Job } from '../../../shared/job.ts';
import { escapeControls } from '../../../shared/text.ts';
import { attemptLogs, attemptText, eventText } from './events.ts';
import { jobLine } from './jobs.ts';
import { facts, tree, type Branch } from './table.ts';
import { paint, type View } from './view.ts';
import { commandOf, ending, stateText, title, waits } from './words.ts';

export interface Shown {
  readonly job: Job;
  readonly attempts: readonly Attempt[];
  readonly needs: readonly Job[];
  readonly neededBy: readonly Job[];
  readonly checkpoints: readonly Checkpoint[];
  /** Values, when asked for. */
  readonly env: Readonly<Record<string, string>> | null;
  /** What happened, oldest first. */
  readonly history: readonly TimelineEntry[];
}

export function showJob(shown: Shown, view: View): string[] {
  const { job } = shown;
  const end = job.state === 'done' ? null : ending(job);
  const lines = [
    `${paint(view, 'bold', `Job ${job.id}`)}  ${stateText(job.phase, view)}${end === null ? '' : `  ${end}`}  ${paint(view, 'bold', title(job))}`,
    ...facts(factsOf(job, view), view),
  ];
  const section = (name: string, branches: Branch[]): void => {
    if (branches.length > 0) lines.push('', `  ${paint(view, 'bold', name)}`, ...tree(branches, view));
  };
  section(
    'Needs',
    shown.needs.map((other) => ({ text: jobLine(other, view) })),
  );
  section(
    'Needed by',
    shown.neededBy.map((other) => ({ text: jobLine(other, view) })),
  );
  section(
    'Stages',
    shown.checkpoints.map((stage) => ({ text: stageText(stage, view) })),
  );
  section('History', historyOf(shown, view));
  if (shown.env !== null) {
    lines.push('', `  ${paint(view, 'bold', 'Environment')}`);
    for (const [name, value] of Object.entries(shown.env).sort(([a], [b]) => (a < b ? -1 : 1))) {
      lines.push(`    ${escapeControls(name)}=${escapeControls(value)}`);
    }
  }
  return lines;
}

function stageText({ name, attempt, bytes, at, until }: Checkpoint, view: View): string {
  const what = until === null ? `${sayBytes(bytes)}, ${sayMoment(at, view.now)}` : sleepText(until, view);
  return `${escapeControls(name)}  attempt ${attempt}, ${what}`;
}

function sleepText(until: string, view: View): string {
  const verb = Date.parse(until) > view.now ? 'sleeps, resumes' : 'slept, resumed';
  return `${verb} ${sayMoment(until, view.now)} (${sayTime(until)})`;
}

function factsOf(job: Job, view: View): [string, string | null][] {
  const tags = Object.entries(job.tags).map(([key, value]) => `${key}=${value}`);
  const moments = (at: string | null): string | null =>
    at === null ? null : `${sayMoment(at, view.now)} (${sayTime(at)})`;
  const limits = [
    job.timeoutMs === null ? 'no timeout' : `timeout ${formatDuration(job.timeoutMs)}`,
    `grace ${formatDuration(job.cancelGraceMs)}`,
  ];
  return [
    ['command', commandOf(job)],
    ['folder', job.cwd],
    ['lane', job.priority === 0 ? job.lane : `${job.lane}, priority ${job.priority}`],
    ['tags', tags.length === 0 ? null : tags.join(', ')],
    ['key', job.key],
    ['waits', waits(job, view)],
    ['due', job.state === 'queued' && job.phase !== 'ready' ? moments(job.nextRunAt) : null],
    ['added', moments(job.createdAt)],
    ['started', moments(job.startedAt)],
    ['ended', moments(job.finishedAt)],
    ['worker', job.workerId],
    [
      'retries',
      `${used(job.failures, job.maxRetries)}, ${Math.min(job.crashes, job.maxCrashes)} of ${sayCount(job.maxCrashes, 'crash', 'crashes')} forgiven; backoff ${formatDuration(job.retryDelayMs)} to ${formatDuration(job.retryMaxDelayMs)}`,
    ],
    ['limits', limits.join(', ')],
    ['output', job.split ? 'stdout and stderr apart' : null],
    ['needs', job.needs.length === 0 ? null : `${job.needs.join(', ')}; if one fails: ${job.onNeedFailure}`],
    ['rerun of', job.rerunOf === null ? null : String(job.rerunOf)],
    ['env', `${sayCount(job.envNames.length, 'variable')} as at add`],
    ['cancel', job.cancelRequested ? 'requested; the process is being stopped' : null],
  ];
}

/** Events in order; those of an attempt hang below it, where its first one stood. */
function historyOf(shown: Shown, view: View): Branch[] {
  const branches: Branch[] = [];
  const below = new Map<number, Branch[]>();
  const attemptBranch = (attempt: Attempt): Branch[] => {
    const known = below.get(attempt.number);
    if (known) return known;
    const children: Branch[] = [];
    below.set(attempt.number, children);
    branches.push({ text: attemptText(attempt, view), children });
    return children;
  };
  const attempts = new Map(shown.attempts.map((attempt) => [attempt.number, attempt]));
  for (const entry of shown.history) {
    if (entry.kind === 'attempt') continue;
    const attempt = entry.event.attempt === null ? undefined : attempts.get(entry.event.attempt);
    const text = eventText(entry.event, view);
    if (attempt === undefined) branches.push({ text });
    else attemptBranch(attempt).push({ text });
  }
  for (const attempt of shown.attempts) {
    const children = attemptBranch(attempt);
    for (const text of attemptLogs(attempt, view)) children.push({ text });
  }
  return branches;
}

/** Retries, not failures: the one that ends a job for good is none of them. */
function used(failures: number, maxRetries: number): string {
  return maxRetries === 0 ? 'none' : `${Math.min(failures, maxRetries)} of ${maxRetries} used`;
}
