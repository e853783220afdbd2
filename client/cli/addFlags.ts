/** The flags that describe a job, shared by `add` and `run`, and the request they make. */
import path from 'node:path';
import { LANE_NAME, MAX_PRIORITY, MAX_RETRIES, MIN_PRIORITY } from '../../shared/limits.ts';
import { NEED_POLICIES, type AddRequest, type Caller } from '../../shared/job.ts';
import { quoteArgv } from '../../shared/shell.ts';
import { escapeControls, quoteValue } from '../../shared/text.ts';
import { parseAt } from '../../shared/time.ts';
import {
  choice,
  duration,
  invalid,
  many,
  parsed,
  parseList,
  parsePair,
  parseWhole,
  text,
  toggle,
  whole,
  type Flags,
  type Parsed,
  type Values,
} from './args.ts';
import type { Context } from './verb.ts';

export const JOB_FLAGS = {
  command: text('TEXT', 'Shell text to run with sh -c, instead of a command after --', { short: 'c' }),
  lane: text('NAME', 'The lane to wait in (default: default)', { aliases: ['queue'] }),
  priority: whole('N', 'Higher goes first (default: 0)', MIN_PRIORITY, MAX_PRIORITY),
  after: duration('Start no sooner than in this time'),
  at: text('T', 'Start no sooner than at this moment: ISO 8601, or HH:MM for its next occurrence'),
  timeout: duration('Stop an attempt that takes longer'),
  retries: whole('N', "Retries after a failure (default: the lane's, else 0)", 0, MAX_RETRIES),
  crashes: whole('N', 'Crashes of the worker that are forgiven (default: 2)', 0, MAX_RETRIES),
  retryDelay: duration('Wait before the first retry, doubled for each further one (default: 2s)'),
  retryMaxDelay: duration('The longest wait before a retry (default: 1m, or the first if longer)'),
  grace: duration('Time between TERM and KILL when the job is stopped (default: 10s)'),
  cwd: text('DIR', 'Where the job runs (default: the current directory)'),
  env: many(parsed('K=V', 'Set a variable for the job (repeatable)', parsePair)),
  cleanEnv: toggle('Give the job only PATH, HOME, USER, SHELL, LANG and TMPDIR'),
  label: text('S', 'A name for people, and for label:NAME'),
  tag: many(parsed('K=V', 'A tag to filter by (repeatable)', parsePair)),
  key: text('S', 'While a job with this key lives, adding it again returns that job'),
  needs: many(parsed('ID[,ID]', 'Start only when these jobs are done', parseNeeds)),
  onNeedFailure: choice('What to do when one of them fails: cancel (default), dead or release', NEED_POLICIES, 'P'),
  split: toggle('Keep stdout and stderr in two logs'),
} satisfies Flags;

export type JobFlags = Values<typeof JOB_FLAGS>;

const CLEAN = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'TMPDIR'];

function parseNeeds(given: string): (number | string)[] {
  return parseList(given).map((id) =>
    id === 'last' || id.startsWith('label:') ? id : parseWhole(id, 1, Number.MAX_SAFE_INTEGER),
  );
}

/**
 * What of the caller the job inherits.
 * @param clean only the variables without which hardly anything runs
 */
export function callerOf({ env, umask }: Pick<Context, 'env' | 'umask'>, clean: boolean): Caller {
  // Own variables only: one may be called as what every object has.
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && (!clean || CLEAN.includes(entry[0])),
  );
  return { env: Object.fromEntries(kept), umask };
}

/** The request for the job that flags and words describe. @throws LanewayError INVALID_INPUT */
export function requestOf(
  { flags, words, rest }: Parsed<typeof JOB_FLAGS>,
  context: Pick<Context, 'cwd' | 'now'>,
): AddRequest {
  const argv = rest ?? [];
  if (words.length > 0) {
    throw invalid(
      'The command must come after --',
      `Put -- before the whole of it: -- ${quoteArgv([...words, ...argv].map(escapeControls), 'linux')}`,
    );
  }
  if (flags.command !== null && rest !== null) {
    throw invalid('Both -c TEXT and a command after -- were given', 'Give one of the two.');
  }
  if (flags.command === null && argv.length === 0) {
    throw invalid('There is no command to run', 'For example: lane add -- make test');
  }
  return {
    ...(flags.command === null ? { argv } : { command: flags.command }),
    ...commonRequest(flags, context),
  };
}

/** Everything but the command. Flags that were not given stay out, so that they can serve as defaults. */
export function commonRequest(flags: JobFlags, { cwd, now }: Pick<Context, 'cwd' | 'now'>): AddRequest {
  if (flags.after !== null && flags.at !== null)
    throw invalid('--after and --at exclude each other', 'Give one of the two.');
  const request: AddRequest = { cwd: path.resolve(cwd, flags.cwd ?? '.') };
  if (flags.lane !== null) request.lane = laneName(flags.lane);
  if (flags.priority !== null) request.priority = flags.priority;
  if (flags.after !== null) request.afterMs = flags.after;
  if (flags.at !== null) request.at = parseAt(flags.at, now());
  if (flags.timeout !== null) request.timeoutMs = flags.timeout;
  if (flags.retries !== null) request.maxRetries = flags.retries;
  if (flags.crashes !== null) request.maxCrashes = flags.crashes;
  if (flags.retryDelay !== null) request.retryDelayMs = flags.retryDelay;
  if (flags.retryMaxDelay !== null) request.retryMaxDelayMs = flags.retryMaxDelay;
  if (flags.grace !== null) request.cancelGraceMs = flags.grace;
  if (flags.env.length > 0) request.env = Object.fromEntries(flags.env);
  if (flags.label !== null) request.label = flags.label;
  if (flags.tag.length > 0) request.tags = Object.fromEntries(flags.tag);
  if (flags.key !== null) request.key = flags.key;
  if (flags.needs.length > 0) request.needs = flags.needs.flat();
  if (flags.onNeedFailure !== null) request.onNeedFailure = flags.onNeedFailure;
  if (flags.split) request.split = true;
  return request;
}

/** Checked before anything is started, so that a mistyped name costs no server. */
function laneName(given: string): string {
  if (LANE_NAME.test(given)) return given;
  throw invalid(
    `--lane: ${quoteValue(given)} is no lane name`,
    'Use 1 to 64 letters, digits, ".", "_" and "-", beginning with a letter or digit.',
  );
}
