/**
 * What `add` refuses, before anything is written: every limit of a job, each with the value, the
 * limit and the way out in one line. Requests that pass come back normalised, so that the store
 * sees one spelling of everything. Pure: whether a folder exists is the server's to find out.
 *
 * Selections, lanes, paging and settings are in validateQuery.ts.
 */
import { absent, duration, fields, flag, integer, invalid, list, oneOf, sizedText, text, textRecord } from './check.ts';
import { execProblem } from './execSize.ts';
import { LanewayError } from './errors.ts';
import { NEED_POLICIES } from './job.ts';
import type { AddRequest, Caller, Timestamp } from './job.ts';
import {
  MAX_ARGV,
  MAX_BATCH,
  MAX_DURATION_MS,
  MAX_KEY,
  MAX_LABEL,
  MAX_NEEDS,
  MAX_PRIORITY,
  MAX_RETRIES,
  MIN_PRIORITY,
} from './limits.ts';
import { shellArgv } from './shell.ts';
import { quoteValue } from './text.ts';
import { validateLaneName, validateRef, validateTags } from './validateQuery.ts';

/** The fields of an {@link AddRequest}; any other is refused. */
const ADD_FIELDS = [
  'argv',
  'command',
  'lane',
  'priority',
  'afterMs',
  'at',
  'timeoutMs',
  'maxRetries',
  'maxCrashes',
  'retryDelayMs',
  'retryMaxDelayMs',
  'cancelGraceMs',
  'cwd',
  'env',
  'label',
  'tags',
  'key',
  'needs',
  'onNeedFailure',
  'split',
] as const satisfies readonly (keyof AddRequest)[];

export interface AddContext {
  /** The environment that the job's `env` comes on top of: its size counts. */
  env: Record<string, string>;
  platform: NodeJS.Platform;
  /** Milliseconds since the epoch, for the limit of `at`. */
  now: number;
  /** In a batch: the 1-based number of this job, which `{line}` may refer below. Null for a single job. */
  line: number | null;
}

/**
 * One job of an `add`, checked and normalised: only given fields, moments in UTC, `command` turned
 * into argv, each need once.
 * @throws LanewayError INVALID_INPUT; in a batch the message begins with `line N: `.
 */
export function validateAdd(request: unknown, context: AddContext): AddRequest {
  if (context.line === null) return check(request, context);
  try {
    return check(request, context);
  } catch (error) {
    if (!(error instanceof LanewayError)) throw error;
    throw new LanewayError(error.code, `line ${context.line}: ${error.message}`, error.hint, { cause: error });
  }
}

/**
 * All jobs of an `add` and what they inherit of the caller.
 * @throws LanewayError INVALID_INPUT
 */
export function validateBatch(
  jobs: unknown,
  caller: unknown,
  context: Omit<AddContext, 'line' | 'env'>,
): { jobs: AddRequest[]; caller: Caller } {
  const requests = list(jobs, 'the batch of jobs', 1, MAX_BATCH);
  const checked = validateCaller(caller);
  const single = requests.length === 1;
  return {
    jobs: requests.map((job, index) =>
      validateAdd(job, { ...context, env: checked.env, line: single ? null : index + 1 }),
    ),
    caller: checked,
  };
}

/** @throws LanewayError INVALID_INPUT */
export function validateCaller(value: unknown): Caller {
  const caller = fields(value, 'the caller', ['env', 'umask']);
  return {
    env: environment(caller['env'], 'environment variable'),
    umask: integer(caller['umask'], 'umask', 0, 0o777),
  };
}

function check(value: unknown, context: AddContext): AddRequest {
  const given = fields(value, 'the job', ADD_FIELDS);
  const job: AddRequest = { argv: argvOf(given, context.platform) };
  const take = <K extends keyof AddRequest>(name: K, read: (value: unknown, what: string) => AddRequest[K]): void => {
    if (!absent(given[name])) job[name] = read(given[name], WORDS[name] ?? name);
  };

  take('lane', validateLaneName);
  take('priority', (v, what) => integer(v, what, MIN_PRIORITY, MAX_PRIORITY));
  take('afterMs', duration);
  take('at', (v, what) => moment(v, what, context.now));
  if (!absent(job.afterMs) && !absent(job.at)) {
    throw invalid('both a delay (after) and a moment (at) are given; one is allowed', 'Leave one of the two out.');
  }
  take('timeoutMs', duration);
  take('maxRetries', (v, what) => integer(v, what, 0, MAX_RETRIES));
  take('maxCrashes', (v, what) => integer(v, what, 0, MAX_RETRIES));
  take('retryDelayMs', duration);
  take('retryMaxDelayMs', duration);
  take('cancelGraceMs', duration);
  take('cwd', (v, what) => absolute(v, what, context.platform));
  take('env', (v) => environment(v, 'environment variable'));
  take('label', (v, what) => sizedText(v, what, 0, MAX_LABEL) || null);
  take('tags', validateTags);
  take('key', (v, what) => sizedText(v, what, 1, MAX_KEY));
  take('needs', (v) => needsOf(v, context.line));
  take('onNeedFailure', (v, what) => oneOf(v, what, NEED_POLICIES));
  take('split', flag);

  const problem = execProblem(job.argv ?? [], { ...context.env, ...job.env }, context.platform);
  if (problem) throw invalid(problem.message, problem.hint);
  return job;
}

/** What messages call a field. */
const WORDS: Partial<Record<keyof AddRequest, string>> = {
  afterMs: 'delay (after)',
  at: 'moment (at)',
  timeoutMs: 'timeout',
  maxRetries: 'retries',
  maxCrashes: 'crashes',
  retryDelayMs: 'retry delay',
  retryMaxDelayMs: 'longest retry delay',
  cancelGraceMs: 'grace',
  onNeedFailure: 'on-need-failure',
};

function argvOf(given: Record<string, unknown>, platform: NodeJS.Platform): string[] {
  const { argv, command } = given;
  if (!absent(argv) && !absent(command)) {
    throw invalid('both argv and shell text are given; one is allowed', 'Leave one of the two out.');
  }
  if (!absent(command)) {
    const shellText = text(command, 'shell text');
    if (shellText.trim() === '') throw invalid('the shell text is empty', 'Give a command to run.');
    return shellArgv(shellText, platform);
  }
  if (absent(argv) || (Array.isArray(argv) && argv.length === 0)) {
    throw invalid('there is no command to run', 'Give the program and its arguments, after -- on the command line.');
  }
  if (!Array.isArray(argv)) throw invalid(`argv ${quoteValue(argv)} is no list`, 'Give a list of texts.');
  if (argv.length > MAX_ARGV) {
    throw invalid(
      `argv has ${argv.length} elements; at most ${MAX_ARGV} are allowed`,
      'Pass the rest in a file, or split the work into several jobs.',
    );
  }
  const checked = argv.map((arg, index) => text(arg, `argv[${index}]`));
  if (checked[0] === '') throw invalid('the program (argv[0]) is empty', 'Name a program first.');
  return checked;
}

function moment(value: unknown, what: string, now: number): Timestamp {
  const at =
    typeof value === 'string' && /^[+-]?\d{4,6}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(value)
      ? Date.parse(value)
      : NaN;
  if (Number.isNaN(at)) {
    throw invalid(`${what} ${quoteValue(value)} is no ISO 8601 moment with a zone`, 'Write 2031-05-04T18:30:00.000Z.');
  }
  if (at > now + MAX_DURATION_MS) {
    throw invalid(`${what} ${quoteValue(value)} is more than 366 days ahead`, 'Give an earlier moment.');
  }
  return new Date(at).toISOString();
}

function absolute(value: unknown, what: string, platform: NodeJS.Platform): string {
  const folder = text(value, what);
  if (platform === 'win32' ? /^(?:[A-Za-z]:[\\/]|\\\\)/.test(folder) : folder.startsWith('/')) return folder;
  throw invalid(`${what} ${quoteValue(value)} is no absolute path`, 'Give the whole path of an existing folder.');
}

function environment(value: unknown, what: string): Record<string, string> {
  const entries = textRecord(value, what);
  for (const [name] of entries) {
    // Windows keeps hidden variables such as "=C:" in the environment.
    if (name === '' || name.slice(1).includes('=')) {
      throw invalid(`${what} name ${quoteValue(name)} is not allowed: empty, or with "="`, 'Give NAME=VALUE.');
    }
  }
  return Object.fromEntries(entries);
}

function needsOf(value: unknown, line: number | null): NonNullable<AddRequest['needs']> {
  const needs = list(value, 'needs', 0, Number.MAX_SAFE_INTEGER);
  if (needs.length > MAX_NEEDS) {
    throw invalid(
      `there are ${needs.length} needs; at most ${MAX_NEEDS} are allowed`,
      'Put a job between that needs some of them.',
    );
  }
  const seen = new Map<string, number | string | { line: number }>();
  for (const need of needs) {
    if (typeof need === 'number') {
      seen.set(`${integer(need, 'needs: job', 1, Number.MAX_SAFE_INTEGER)}`, need);
      continue;
    }
    if (typeof need !== 'object') {
      const ref = validateRef(need);
      seen.set(String(ref), ref);
      continue;
    }
    const earlier = fields(need, 'needs: an entry', ['line'])['line'];
    if (line === null) {
      throw invalid('needs: {"line":N} has a meaning in a batch only', 'Give the id of an earlier job.');
    }
    const number = integer(earlier, 'needs: line', 1, Number.MAX_SAFE_INTEGER);
    if (number >= line) {
      throw invalid(`needs: line ${number} is no earlier line`, 'Name a line above this one.');
    }
    seen.set(`line ${number}`, { line: number });
  }
  return [...seen.values()];
}
