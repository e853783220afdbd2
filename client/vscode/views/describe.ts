/**
 * What is to be shown of a node, without `vscode`: label, description, tooltip rows, icon, context
 * words, accessible label. `treeItem.ts` turns that into the editor's items. The words of
 * `contextValue` are what package.json's menus test, and a test compares the two.
 */
import { sayBytes, sayCount, sayDuration, sayLocally, sayMoment, sayTime } from '../../../shared/format.ts';
import { type Checkpoint, isTerminal, type Job } from '../../../shared/job.ts';
import { escapeControls } from '../../../shared/text.ts';
import { groupOf } from './groups.ts';
import { type Icon, iconOf, stateIcon } from './icons.ts';
import type { AttemptNode, FolderNode, GroupNode, LaneNode, Node } from './nodes.ts';
import { attemptCount, commandText, elapsed, endingText, jobTitle, until } from './title.ts';

/** Every word a `contextValue` can hold, for the test that compares them with the menus. */
export const CONTEXT_WORDS = [
  'folder',
  'lane',
  'paused',
  'flowing',
  'busy',
  'group',
  'job',
  'cancelable',
  'retryable',
  'rerunnable',
  'bumpable',
  'hasLog',
  'attempt',
  'stage',
  'more',
  'note',
] as const;
export type ContextWord = (typeof CONTEXT_WORDS)[number];

/** Name and value, one line each; a value may hold anything. */
export type Rows = [name: string, value: string][];

export interface Shown {
  label: string;
  description: string;
  /** Made only when somebody points at the node. */
  tooltip: () => Rows;
  icon: Icon | null;
  words: ContextWord[];
  fold: 'none' | 'collapsed' | 'expanded';
  /** Read out by screen readers instead of label and description. */
  spoken: string;
  /** Run by a click, with the node as its argument. */
  command: { id: string; title: string } | null;
}

/** What is to be shown of a node at a moment (milliseconds since the epoch). */
export function describe(node: Node, now: number): Shown {
  switch (node.kind) {
    case 'folder':
      return describeFolder(node);
    case 'lane':
      return describeLane(node);
    case 'group':
      return describeGroup(node);
    case 'job':
      return describeJob(node.job, (node.title ??= jobTitle(node.job)), now);
    case 'attempt':
      return describeAttempt(node, now);
    case 'stage':
      return describeStage(node.stage, now);
    case 'more':
      return {
        ...plain('Show more…', ['more']),
        command: { id: 'laneway.showMore', title: 'Show More' },
        icon: iconOf(node),
      };
    case 'note':
      return {
        ...plain(escapeControls(node.text), ['note']),
        icon: iconOf(node),
        command: node.command ?? null,
      };
  }
}

/** The context words of a job: what can be done with it now. */
export function jobWords(job: Job): ContextWord[] {
  const words: ContextWord[] = ['job'];
  if (!isTerminal(job.state) && !job.cancelRequested) words.push('cancelable');
  if (job.state === 'dead' || job.phase === 'retrying') words.push('retryable');
  if (isTerminal(job.state)) words.push('rerunnable');
  if (job.state === 'queued' || job.state === 'blocked') words.push('bumpable');
  if (job.attempts > 0) words.push('hasLog');
  return words;
}

function plain(label: string, words: ContextWord[]): Shown {
  return { label, description: '', tooltip: () => [], icon: null, words, fold: 'none', spoken: label, command: null };
}

function describeFolder(node: FolderNode): Shown {
  const { queue } = node;
  const name = escapeControls(queue.name);
  const counts = queue.cache.counts;
  const description = counts ? `${counts.running} running, ${counts.queued + counts.blocked} waiting` : '';
  return {
    ...plain(name, ['folder']),
    description,
    tooltip: () => [['Folder', escapeControls(queue.root)]],
    icon: iconOf(node),
    fold: 'collapsed',
    spoken: `folder ${name}, ${description || 'not connected'}`,
  };
}

function describeLane(node: LaneNode): Shown {
  const { lane } = node;
  const waiting = lane.queued + lane.blocked;
  const parts = [`${lane.running}/${lane.slots}`];
  if (waiting > 0) parts.push(`${waiting} waiting`);
  if (lane.paused) parts.push('paused');
  const tooltip: Rows = [
    ['Lane', lane.name],
    ['Slots', `${lane.running} of ${lane.slots} in use`],
    ['Waiting', `${lane.queued - lane.scheduled} queued, ${lane.scheduled} scheduled, ${lane.blocked} blocked`],
  ];
  if (lane.paused) tooltip.push(['Paused', 'starts nothing; running jobs go on']);
  if (lane.maxRetries !== null) tooltip.push(['Retries', String(lane.maxRetries)]);
  if (lane.retryDelayMs !== null) tooltip.push(['Retry delay', sayDuration(lane.retryDelayMs)]);
  if (lane.retryMaxDelayMs !== null) tooltip.push(['Longest retry delay', sayDuration(lane.retryMaxDelayMs)]);
  if (lane.timeoutMs !== null) tooltip.push(['Timeout', sayDuration(lane.timeoutMs)]);
  if (lane.cancelGraceMs !== null) tooltip.push(['Grace', sayDuration(lane.cancelGraceMs)]);
  if (lane.pauseOnFailure) tooltip.push(['On failure', 'pauses itself']);
  const words: ContextWord[] = ['lane', lane.paused ? 'paused' : 'flowing'];
  if (lane.running + waiting > 0) words.push('busy');
  return {
    ...plain(lane.name, words),
    description: parts.join(' · '),
    tooltip: () => tooltip,
    icon: iconOf(node),
    // A first job may have ended before its lane is drawn; who added it wants to see it.
    fold: lane.running + waiting > 0 || node.alone ? 'expanded' : 'collapsed',
    spoken: `lane ${lane.name}, ${lane.running} of ${lane.slots} running, ${waiting} waiting${lane.paused ? ', paused' : ''}`,
  };
}

function describeGroup(node: GroupNode): Shown {
  const label = node.group[0]!.toUpperCase() + node.group.slice(1);
  return {
    ...plain(label, ['group']),
    description: String(node.count),
    icon: iconOf(node),
    fold: node.count === 0 ? 'none' : node.group === 'running' ? 'expanded' : 'collapsed',
    spoken: `${label}, ${node.count} ${node.count === 1 ? 'job' : 'jobs'}`,
  };
}

function describeJob(job: Job, title: string, now: number): Shown {
  const description = jobStatus(job, now);
  return {
    label: title,
    description,
    tooltip: () => jobTooltip(job),
    icon:
      job.cancelRequested && job.state === 'running'
        ? { id: 'stop-circle', color: 'charts.yellow' }
        : stateIcon(groupOf(job)),
    words: jobWords(job),
    fold: job.attempts > 0 ? 'collapsed' : 'none',
    spoken: `job ${job.id}, ${title}, ${job.phase === 'ready' ? 'queued' : job.phase}, ${description}`,
    command: null,
  };
}

function jobTooltip(job: Job): Rows {
  const tooltip: Rows = [
    ['Job', `#${job.id}${job.label === null ? '' : ` ${escapeControls(job.label)}`}`],
    ['Command', escapeControls(commandText(job.argv))],
    ['State', job.phase === 'ready' ? 'queued' : job.phase],
    ['Lane', job.lane],
    ['Folder', escapeControls(job.cwd)],
    ['Added', sayTime(job.createdAt)],
  ];
  if (job.waitReason !== null) tooltip.push(['Waits', escapeControls(sayLocally(job.waitReason))]);
  if (job.priority !== 0) tooltip.push(['Priority', String(job.priority)]);
  if (job.attempts > 0) tooltip.push(['Attempts', attemptCount(job)]);
  if (job.needs.length > 0) tooltip.push(['Needs', job.needs.map((id) => `#${id}`).join(', ')]);
  if (job.rerunOf !== null) tooltip.push(['Rerun of', `#${job.rerunOf}`]);
  const ending = isTerminal(job.state) ? endingText(job) : '';
  if (ending) tooltip.push(['Ended', ending]);
  if (job.timeoutMs !== null) tooltip.push(['Timeout', sayDuration(job.timeoutMs)]);
  for (const [key, value] of Object.entries(job.tags)) tooltip.push([escapeControls(key), escapeControls(value)]);
  return tooltip;
}

/** The line behind a job's title: since when it runs, why it waits, or how it ended. */
export function jobStatus(job: Job, now: number): string {
  const parts: string[] = [];
  switch (job.state) {
    case 'running':
      if (job.cancelRequested) parts.push('stopping');
      if (job.startedAt !== null) parts.push(elapsed(job.startedAt, now));
      if (job.attempts > 1) parts.push(`attempt ${attemptCount(job)}`);
      break;
    case 'queued':
    case 'blocked':
      if (job.phase === 'retrying') parts.push(`retrying after ${endingText(job) || 'a failure'}`);
      if (job.nextRunAt !== null && (job.phase === 'scheduled' || job.phase === 'retrying')) {
        parts.push(until(job.nextRunAt, now));
      } else {
        if (job.waitReason !== null) parts.push(escapeControls(job.waitReason));
        parts.push(`waiting ${elapsed(job.createdAt, now)}`);
      }
      break;
    case 'done':
    case 'dead':
    case 'canceled': {
      const ending = endingText(job);
      if (ending && ending !== job.state) parts.push(ending);
      if (job.startedAt !== null && job.finishedAt !== null) {
        parts.push(sayDuration(Date.parse(job.finishedAt) - Date.parse(job.startedAt)));
      }
      if (job.attempts > 1) parts.push(`${job.attempts} attempts`);
      if (job.finishedAt !== null) parts.push(sayMoment(job.finishedAt, now));
      break;
    }
  }
  return parts.join(' · ');
}

function describeAttempt(node: AttemptNode, now: number): Shown {
  const { attempt, stages } = node;
  const ending = attempt.state === 'succeeded' ? 'succeeded' : endingText(attempt) || attempt.state.replace('_', ' ');
  const took = attempt.durationMs === null ? elapsed(attempt.startedAt, now) : sayDuration(attempt.durationMs);
  const status = attempt.state === 'running' ? `running ${took}` : `${ending} · ${took}`;
  const tooltip: Rows = [
    ['Attempt', `#${attempt.jobId}.${attempt.number}`],
    ['Started', sayTime(attempt.startedAt)],
  ];
  if (attempt.finishedAt !== null) tooltip.push(['Ended', `${sayTime(attempt.finishedAt)}, ${ending}`]);
  if (attempt.error !== null) tooltip.push(['Error', escapeControls(attempt.error)]);
  if (attempt.pid !== null) tooltip.push(['Process', String(attempt.pid)]);
  if (attempt.stdoutBytes !== null) {
    const split = attempt.stderrPath !== attempt.stdoutPath ? (attempt.stderrBytes ?? 0) : 0;
    tooltip.push(['Output', sayBytes(attempt.stdoutBytes + split)]);
  }
  const description = stages.length > 0 ? `${status} · ${sayCount(stages.length, 'stage')}` : status;
  const words: ContextWord[] = ['attempt'];
  if (attempt.stdoutPath !== null) words.push('hasLog');
  return {
    label: `Attempt ${attempt.number}`,
    description,
    tooltip: () => tooltip,
    icon: iconOf(node),
    words,
    fold: stages.length > 0 ? 'collapsed' : 'none',
    spoken: `attempt ${attempt.number}, ${description}`,
    command: { id: 'laneway.showLog', title: 'Show Log' },
  };
}

function describeStage(stage: Checkpoint, now: number): Shown {
  if (stage.until !== null) return describeSleep(stage.name, stage.until, now);
  return {
    ...plain(escapeControls(stage.name), ['stage']),
    description: `finished ${sayMoment(stage.at, now)} · ${sayBytes(stage.bytes)}`,
    icon: { id: 'check', color: 'testing.iconPassed' },
    spoken: `stage ${escapeControls(stage.name)}, finished ${sayMoment(stage.at, now)}`,
  };
}

function describeSleep(name: string, until: string, now: number): Shown {
  const description = `${Date.parse(until) > now ? 'sleeps, resumes' : 'slept, resumed'} ${sayMoment(until, now)}`;
  return {
    ...plain(escapeControls(name), ['stage']),
    description,
    icon: { id: 'watch', color: null },
    spoken: `sleep ${escapeControls(name)}, ${description}`,
  };
}
