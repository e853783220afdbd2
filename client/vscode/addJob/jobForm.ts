/**
 * The job being put together in the add flow: what was typed becomes argv or visible shell
 * text, options are parsed and shown in one table. Pure; `flow.ts` asks.
 */
import { parseDuration, formatDuration } from '../../../shared/duration.ts';
import { LanewayError, toErrorData } from '../../../shared/errors.ts';
import type { AddRequest, Job } from '../../../shared/job.ts';
import { LANE_NAME, MAX_LABEL, MAX_PRIORITY, MAX_RETRIES, MIN_PRIORITY } from '../../../shared/limits.ts';
import { parseCommandLine, shellArgv } from '../../../shared/shell.ts';
import { escapeControls } from '../../../shared/text.ts';
import { commandText } from '../views/title.ts';

/** A job to be: an `AddRequest` whose cwd may still be relative to the folder. */
export type JobForm = Omit<AddRequest, 'argv' | 'command'> & { argv: string[] };

/** What a typed line means. */
export interface Typed {
  argv: string[];
  /** Shown under the line: the argv, or why it runs in a shell. */
  detail: string;
}

/**
 * A typed command line as argv by shell quoting; text that only a shell can run becomes one
 * visible `sh -c`. Null for an empty line.
 * @throws INVALID_INPUT for an unfinished quote.
 */
export function readTyped(text: string, platform: NodeJS.Platform, comspec?: string): Typed | null {
  if (text.trim() === '') return null;
  const { argv, shell } = parseCommandLine(text, platform);
  if (shell !== null) {
    const asShell = shellArgv(text.trim(), platform, comspec);
    const program = platform === 'win32' ? `${asShell[0]} /c` : 'sh -c';
    return { argv: asShell, detail: `runs in a shell (${program}), because of ${shell}` };
  }
  if (argv.length === 0) return null;
  return { argv, detail: `argv: ${showArgv(argv)}` };
}

/** argv as a person can check it, element by element. */
export function showArgv(argv: readonly string[]): string {
  return argv
    .map((arg) => (/^[^\s"[\]]+$/.test(arg) ? arg : JSON.stringify(arg)))
    .map(escapeControls)
    .join('  ');
}

/** One option behind the gear. */
export interface Option {
  key: 'priority' | 'afterMs' | 'maxRetries' | 'timeoutMs' | 'cwd' | 'label' | 'key' | 'needs';
  label: string;
  prompt: string;
  /** The present value as text that `read` takes back; empty when not given. */
  show(form: JobForm): string;
  /** The form with the typed value; empty takes it away. @throws INVALID_INPUT */
  read(form: JobForm, text: string): JobForm;
}

const whole = (what: string, text: string, least: number, most: number): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new LanewayError('INVALID_INPUT', `${what} must be a whole number from ${least} to ${most}`);
};

/** Everything behind the gear, in the order shown. `needs` is asked with a picker of jobs. */
export const OPTIONS: readonly Option[] = [
  {
    key: 'priority',
    label: 'Priority',
    prompt: 'Higher starts earlier; 0 is usual',
    show: (form) => text(form.priority),
    read: (form, typed) => ({
      ...form,
      priority: typed ? whole('the priority', typed, MIN_PRIORITY, MAX_PRIORITY) : null,
    }),
  },
  {
    key: 'afterMs',
    label: 'Delay',
    prompt: 'Start no sooner than after this long: 30s, 5m, 2h, 1d',
    show: (form) => duration(form.afterMs),
    read: (form, typed) => ({ ...form, afterMs: typed ? parseDuration(typed, { what: 'the delay' }) : null }),
  },
  {
    key: 'maxRetries',
    label: 'Retries',
    prompt: 'How often to run it again after a failure',
    show: (form) => text(form.maxRetries),
    read: (form, typed) => ({ ...form, maxRetries: typed ? whole('retries', typed, 0, MAX_RETRIES) : null }),
  },
  {
    key: 'timeoutMs',
    label: 'Timeout',
    prompt: 'Stop an attempt that runs longer: 30s, 5m, 2h',
    show: (form) => duration(form.timeoutMs),
    read: (form, typed) => ({ ...form, timeoutMs: typed ? parseDuration(typed, { what: 'the timeout' }) : null }),
  },
  {
    key: 'cwd',
    label: 'Folder',
    prompt: 'Where it runs; relative to the workspace folder',
    show: (form) => form.cwd ?? '',
    read: (form, typed) => ({ ...form, cwd: typed || null }),
  },
  {
    key: 'needs',
    label: 'Needs',
    prompt: 'Runs once these jobs are done',
    show: (form) => (form.needs ?? []).map((need) => (typeof need === 'number' ? `#${need}` : '')).join(', '),
    read: (form, typed) => ({ ...form, needs: readNeeds(typed) }),
  },
  {
    key: 'label',
    label: 'Label',
    prompt: 'A name to show instead of the command',
    show: (form) => form.label ?? '',
    read: (form, typed) => {
      if (typed.length > MAX_LABEL)
        throw new LanewayError('INVALID_INPUT', `a label has at most ${MAX_LABEL} characters`);
      return { ...form, label: typed || null };
    },
  },
  {
    key: 'key',
    label: 'Key',
    prompt: 'While a job with this key waits or runs, adding it again adds nothing',
    show: (form) => form.key ?? '',
    read: (form, typed) => ({ ...form, key: typed || null }),
  },
];

/** Why a typed value does not do, for an input box; null when it does. */
export function problem(option: Option, form: JobForm, typed: string): string | null {
  try {
    option.read(form, typed.trim());
    return null;
  } catch (error) {
    const { message, hint } = toErrorData(error);
    return hint ? `${message}. ${hint}` : message;
  }
}

/** Why a text is no lane name; null when it is one. */
export function laneProblem(name: string): string | null {
  return LANE_NAME.test(name)
    ? null
    : 'A lane name begins with a letter or digit and holds at most 64 letters, digits, dots, dashes and underscores';
}

/** A job that exists, as a form to edit and add again: without key and needs, like a rerun. */
export function formOf(job: Job): JobForm {
  return {
    argv: [...job.argv],
    lane: job.lane,
    priority: job.priority,
    timeoutMs: job.timeoutMs,
    maxRetries: job.maxRetries,
    maxCrashes: job.maxCrashes,
    retryDelayMs: job.retryDelayMs,
    retryMaxDelayMs: job.retryMaxDelayMs,
    cancelGraceMs: job.cancelGraceMs,
    cwd: job.cwd,
    label: job.label,
    tags: { ...job.tags },
    split: job.split,
  };
}

/** The line to prefill an edit with; typing it unchanged gives the same argv. */
export function lineOf(argv: readonly string[]): string {
  return commandText(argv);
}

/** Lines added before that are remembered. */
const MAX_HISTORY = 50;

/** The newest first, without repeats, bounded. */
export function withHistory(history: readonly string[], line: string): string[] {
  return [line, ...history.filter((known) => known !== line)].slice(0, MAX_HISTORY);
}

function readNeeds(typed: string): number[] | null {
  const ids = typed.split(/[\s,]+/).filter(Boolean);
  if (ids.length === 0) return null;
  return ids.map((id) => whole('a needed job', id.replace(/^#/, ''), 1, Number.MAX_SAFE_INTEGER));
}

function text(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

function duration(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : formatDuration(ms);
}
