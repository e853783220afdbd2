/**
 * add: a batch of jobs in one transaction, all or none. Requests were validated before
 * (shared/validate.ts); what only the database knows is checked here: keys, prerequisites, lanes.
 *
 * First every line becomes a row, with ids handed out in order, then all rows are written at once.
 * A line may refer to earlier ones (needs, or the same key), so what was planned counts as live.
 */
import { LanewayError } from '../../../shared/errors.ts';
import type { AddRequest, Caller, NeedPolicy } from '../../../shared/job.ts';
import {
  DEFAULT_CANCEL_GRACE_MS,
  DEFAULT_LANE,
  DEFAULT_MAX_CRASHES,
  DEFAULT_MAX_RETRIES,
  DEFAULT_RETRY_DELAY_MS,
  DEFAULT_RETRY_MAX_DELAY_MS,
} from '../../../shared/limits.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Tx } from '../api.ts';
import { resolve } from '../queries/resolve.ts';
import { statement } from '../statements.ts';
import { settleAt } from './dependents.ts';
import { ensureLane, type LaneDefaults, nextStamp, refreshHead } from './heads.ts';
import { insertJobs, type NewJob, nextJobId, snapshotEnvironment } from './insert.ts';

/** What was planned so far, and what the jobs of one batch share: each found out once. */
interface Batch {
  caller: Caller;
  jobs: Map<number, NewJob>;
  /** The planned live job of a key. */
  keys: Map<string, NewJob>;
  /** Job ids by line, from 0. */
  ids: number[];
  lanes: Map<string, LaneDefaults>;
  /** Jobs to settle at once, with the prerequisite that ended badly. */
  settle: { job: NewJob; need: number }[];
  shared: { environment: number; stamp: number; nextId: number } | null;
}

/**
 * @returns the id of each request's job in order, and which of them were live already under their key.
 * @throws INVALID_INPUT for a prerequisite that does not exist; KEY_CONFLICT. In a batch the message names the line.
 */
export function add(tx: Tx, requests: AddRequest[], caller: Caller): { ids: number[]; deduplicated: number[] } {
  const batch: Batch = {
    caller,
    jobs: new Map(),
    keys: new Map(),
    ids: [],
    lanes: new Map(),
    settle: [],
    shared: null,
  };
  const deduplicated = new Set<number>();
  for (const [index, request] of requests.entries()) {
    const where = requests.length > 1 ? `line ${index + 1}: ` : '';
    const live = liveByKey(tx, request, batch, where);
    if (live !== null) deduplicated.add(live);
    batch.ids.push(live ?? plan(tx, request, batch, where).id);
  }
  insertJobs(tx, [...batch.jobs.values()]);
  // A prerequisite that had ended badly settles the job as it would have later.
  for (const { job, need } of batch.settle) settleAt(tx, job.id, job.on_need_failure, need);
  for (const lane of batch.lanes.keys()) refreshHead(tx, lane);
  return { ids: batch.ids, deduplicated: [...deduplicated] };
}

/** The job's rows, noted in the batch. */
function plan(tx: Tx, request: AddRequest, batch: Batch, where: string): NewJob {
  const { argv, cwd } = request;
  if (!argv?.length || !cwd) {
    throw new LanewayError('INVALID_INPUT', `${where}a job needs argv and an absolute cwd`, 'Give both');
  }
  batch.shared ??= {
    environment: snapshotEnvironment(tx, batch.caller.env),
    stamp: nextStamp(tx),
    nextId: nextJobId(tx),
  };
  const lane = request.lane ?? DEFAULT_LANE;
  let defaults = batch.lanes.get(lane);
  if (defaults === undefined) batch.lanes.set(lane, (defaults = ensureLane(tx, lane)));
  const policy = request.onNeedFailure ?? 'cancel';
  const needs = request.needs?.length ? judgeNeeds(tx, request.needs, policy, batch, where) : [];
  const ended = needs.find((need) => need.endedBadly && !need.satisfied);
  const delayedUntil = delay(tx, request);
  const retryDelayMs = request.retryDelayMs ?? defaults.retry_delay_ms ?? DEFAULT_RETRY_DELAY_MS;
  const job: NewJob = {
    id: batch.shared.nextId++,
    lane,
    argv: JSON.stringify(argv),
    cwd,
    label: request.label ?? null,
    tags: JSON.stringify(request.tags ?? {}),
    max_retries: request.maxRetries ?? defaults.max_retries ?? DEFAULT_MAX_RETRIES,
    max_crashes: request.maxCrashes ?? DEFAULT_MAX_CRASHES,
    retry_delay_ms: retryDelayMs,
    // Who asks for an hour and names no longest wait wants the hour.
    retry_max_delay_ms:
      request.retryMaxDelayMs ?? defaults.retry_max_delay_ms ?? Math.max(DEFAULT_RETRY_MAX_DELAY_MS, retryDelayMs),
    timeout_ms: request.timeoutMs ?? defaults.timeout_ms,
    cancel_grace_ms: request.cancelGraceMs ?? defaults.cancel_grace_ms ?? DEFAULT_CANCEL_GRACE_MS,
    split: request.split ? 1 : 0,
    key: request.key ?? null,
    on_need_failure: policy,
    rerun_of: null,
    environment_id: batch.shared.environment,
    env: JSON.stringify(request.env ?? {}),
    umask: batch.caller.umask,
    priority: request.priority ?? 0,
    next_run_at: delayedUntil ?? batch.shared.stamp,
    due: delayedUntil === null ? 1 : 0,
    needs,
    settled: ended !== undefined,
  };
  batch.jobs.set(job.id, job);
  if (ended !== undefined) batch.settle.push({ job, need: ended.id });
  else if (job.key !== null) batch.keys.set(job.key, job);
  return job;
}

/** When a delayed job is due, ms; null when it is due at once. */
function delay(tx: Tx, request: AddRequest): number | null {
  if (request.afterMs != null) return tx.now + request.afterMs;
  if (request.at != null) return Date.parse(request.at);
  return null;
}

interface Keyed {
  id: number;
  lane: string;
  argv: string;
  cwd: string;
}

/** The live job, stored or planned, that has this key and the same payload. */
function liveByKey(tx: Tx, request: AddRequest, batch: Batch, where: string): number | null {
  if (request.key == null) return null;
  const live: Keyed | undefined =
    batch.keys.get(request.key) ??
    statement<Keyed>(
      tx.db,
      `SELECT j.id, j.lane, j.argv, j.cwd FROM job_runtime r JOIN jobs j ON j.id = r.job_id WHERE r.key = ?`,
    ).get(request.key);
  if (live === undefined) return null;
  const same =
    live.lane === (request.lane ?? DEFAULT_LANE) &&
    live.argv === JSON.stringify(request.argv) &&
    live.cwd === request.cwd;
  if (same) return live.id;
  throw new LanewayError(
    'KEY_CONFLICT',
    `${where}key ${quoteValue(request.key)} belongs to job ${live.id}, which is not finished and has another lane, command or folder`,
    `Use another key, or wait for job ${live.id} or cancel it first`,
  );
}

interface Need {
  id: number;
  satisfied: boolean;
  endedBadly: boolean;
}

/** Each prerequisite once, and whether it counts as satisfied already. */
function judgeNeeds(
  tx: Tx,
  needs: NonNullable<AddRequest['needs']>,
  policy: NeedPolicy,
  batch: Batch,
  where: string,
): Need[] {
  const ids = new Set(needs.map((need) => idOfNeed(tx, need, batch, where)));
  return [...ids].map((id) => {
    const state = stateOfNeed(tx, id, batch, where);
    const endedBadly = state === 'dead' || state === 'canceled';
    return { id, satisfied: state === 'done' || (endedBadly && policy === 'release'), endedBadly };
  });
}

/** `live`, or how it ended. */
function stateOfNeed(tx: Tx, id: number, batch: Batch, where: string): string {
  const planned = batch.jobs.get(id);
  if (planned !== undefined) {
    if (!planned.settled) return 'live';
    return planned.on_need_failure === 'dead' ? 'dead' : 'canceled';
  }
  const found = statement<{ state: string | null }>(
    tx.db,
    'SELECT (SELECT state FROM job_outcomes WHERE job_id = jobs.id) AS state FROM jobs WHERE id = ?',
  ).get(id);
  if (found !== undefined) return found.state ?? 'live';
  throw new LanewayError(
    'INVALID_INPUT',
    `${where}needs names job ${id}, and there is no such job`,
    'Name jobs that `lane list` shows; pruned ones are gone',
  );
}

/** Words name jobs that were there before the batch: its own have `{line}`. */
function idOfNeed(tx: Tx, need: number | string | { line: number }, batch: Batch, where: string): number {
  if (typeof need === 'number') return need;
  return typeof need === 'string' ? idOfWord(tx, need, where) : idOfLine(need.line, batch.ids, where);
}

function idOfWord(tx: Tx, word: string, where: string): number {
  try {
    return resolve(tx, word);
  } catch (error) {
    if (!(error instanceof LanewayError)) throw error;
    throw new LanewayError('INVALID_INPUT', `${where}needs: ${error.message}`, error.hint);
  }
}

function idOfLine(line: number, ids: number[], where: string): number {
  const id = ids[line - 1];
  if (id !== undefined) return id;
  throw new LanewayError(
    'INVALID_INPUT',
    `${where}needs names line ${line}, which is no earlier line of this batch`,
    'Name an earlier line, counted from 1',
  );
}
