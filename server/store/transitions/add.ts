/**
 * add: a batch of jobs in one transaction, all or none. Requests were validated before
 * (shared/validate.ts); what only the database knows is checked here: keys, prerequisites, lanes.
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
import { statement } from '../statements.ts';
import { settleAt } from './dependents.ts';
import { iso } from './events.ts';
import { ensureLane, type LaneDefaults, nextStamp, refreshHead } from './heads.ts';
import { insertJob, type NewJob, snapshotEnvironment } from './insert.ts';

/** What the jobs of one batch share: each found out once. */
interface Batch {
  lanes: Map<string, LaneDefaults>;
  caller: Caller;
  environment: number | null;
  stamp: number | null;
  /** Job ids by line, from 0. */
  ids: number[];
}

/**
 * @returns the id of each request's job in order, and which of them were live already under their key.
 * @throws INVALID_INPUT for a prerequisite that does not exist; KEY_CONFLICT.
 */
export function add(tx: Tx, requests: AddRequest[], caller: Caller): { ids: number[]; deduplicated: number[] } {
  const batch: Batch = { lanes: new Map(), caller, environment: null, stamp: null, ids: [] };
  const deduplicated = new Set<number>();
  for (const [index, request] of requests.entries()) {
    const where = requests.length > 1 ? `line ${index + 1}: ` : '';
    const live = findByKey(tx, request, where);
    if (live !== null) deduplicated.add(live);
    batch.ids.push(live ?? addOne(tx, request, batch, where));
  }
  for (const lane of batch.lanes.keys()) refreshHead(tx, lane);
  return { ids: batch.ids, deduplicated: [...deduplicated] };
}

function addOne(tx: Tx, request: AddRequest, batch: Batch, where: string): number {
  const lane = request.lane ?? DEFAULT_LANE;
  let defaults = batch.lanes.get(lane);
  if (defaults === undefined) {
    defaults = ensureLane(tx, lane);
    batch.lanes.set(lane, defaults);
  }
  const policy = request.onNeedFailure ?? 'cancel';
  const needs = request.needs?.length ? judgeNeeds(tx, request.needs, policy, batch.ids, where) : NO_NEEDS;
  const left = needs.reduce((count, need) => count + (need.satisfied ? 0 : 1), 0);
  const delayedUntil = delay(tx, request);
  batch.stamp ??= nextStamp(tx);
  batch.environment ??= snapshotEnvironment(tx, batch.caller.env);
  const id = insertJob(
    tx,
    identity(request, lane, defaults, policy, batch.environment, batch.caller.umask, where),
    {
      state: left > 0 ? 'blocked' : 'queued',
      priority: request.priority ?? 0,
      nextRunAt: delayedUntil ?? batch.stamp,
      due: delayedUntil === null,
      needsLeft: left,
    },
    {
      ...(delayedUntil === null ? null : { nextRunAt: iso(delayedUntil) }),
      ...(needs.length === 0 ? null : { needs: needs.map((need) => need.id) }),
    },
  );
  for (const need of needs) {
    statement(tx.db, 'INSERT INTO job_needs (job_id, need_id, satisfied) VALUES (?, ?, ?)').run(
      id,
      need.id,
      need.satisfied ? 1 : 0,
    );
  }
  // A prerequisite that has ended badly already settles the job as it would have later.
  const ended = needs.find((need) => need.endedBadly && !need.satisfied);
  if (ended !== undefined) settleAt(tx, id, policy, ended.id);
  return id;
}

/** When a delayed job is due, ms; null when it is due at once. */
function delay(tx: Tx, request: AddRequest): number | null {
  if (request.afterMs != null) return tx.now + request.afterMs;
  if (request.at != null) return Date.parse(request.at);
  return null;
}

function identity(
  request: AddRequest,
  lane: string,
  defaults: LaneDefaults,
  policy: NeedPolicy,
  environment: number,
  umask: number,
  where: string,
): NewJob {
  if (!request.argv?.length || !request.cwd) {
    throw new LanewayError('INVALID_INPUT', `${where}a job needs argv and an absolute cwd`, 'give both');
  }
  return {
    lane,
    argv: JSON.stringify(request.argv),
    cwd: request.cwd,
    label: request.label ?? null,
    tags: JSON.stringify(request.tags ?? {}),
    max_retries: request.maxRetries ?? defaults.max_retries ?? DEFAULT_MAX_RETRIES,
    max_crashes: request.maxCrashes ?? DEFAULT_MAX_CRASHES,
    retry_delay_ms: request.retryDelayMs ?? defaults.retry_delay_ms ?? DEFAULT_RETRY_DELAY_MS,
    retry_max_delay_ms: request.retryMaxDelayMs ?? defaults.retry_max_delay_ms ?? DEFAULT_RETRY_MAX_DELAY_MS,
    timeout_ms: request.timeoutMs ?? defaults.timeout_ms,
    cancel_grace_ms: request.cancelGraceMs ?? defaults.cancel_grace_ms ?? DEFAULT_CANCEL_GRACE_MS,
    split: request.split ? 1 : 0,
    key: request.key ?? null,
    on_need_failure: policy,
    rerun_of: null,
    environment_id: environment,
    env: JSON.stringify(request.env ?? {}),
    umask,
  };
}

interface LiveByKey {
  id: number;
  state: string;
  lane: string;
  argv: string;
  cwd: string;
}

/** The live job that has this key and the same payload. */
function findByKey(tx: Tx, request: AddRequest, where: string): number | null {
  if (request.key == null) return null;
  const live = statement<LiveByKey>(
    tx.db,
    `SELECT j.id, r.state, j.lane, j.argv, j.cwd FROM job_runtime r JOIN jobs j ON j.id = r.job_id WHERE r.key = ?`,
  ).get(request.key);
  if (live === undefined) return null;
  const same =
    live.lane === (request.lane ?? DEFAULT_LANE) &&
    live.argv === JSON.stringify(request.argv) &&
    live.cwd === request.cwd;
  if (same) return live.id;
  throw new LanewayError(
    'KEY_CONFLICT',
    `${where}key ${quoteValue(request.key)} belongs to job ${live.id}, which is ${live.state} and has another lane, command or folder`,
    `use another key, or wait for job ${live.id} or cancel it first`,
  );
}

interface Need {
  id: number;
  satisfied: boolean;
  endedBadly: boolean;
}
const NO_NEEDS: Need[] = [];

/** Which prerequisites count as satisfied already. */
function judgeNeeds(
  tx: Tx,
  needs: NonNullable<AddRequest['needs']>,
  policy: NeedPolicy,
  lines: number[],
  where: string,
): Need[] {
  const ids = new Set(needs.map((need) => (typeof need === 'number' ? need : idOfLine(need.line, lines, where))));
  return [...ids].map((id) => {
    const found = statement<{ state: string | null }>(
      tx.db,
      `SELECT (SELECT state FROM job_outcomes WHERE job_id = jobs.id) AS state FROM jobs WHERE id = ?`,
    ).get(id);
    if (found === undefined) {
      throw new LanewayError(
        'INVALID_INPUT',
        `${where}needs names job ${id}, and there is no such job`,
        'name jobs that `lane list` shows; pruned ones are gone',
      );
    }
    const endedBadly = found.state === 'dead' || found.state === 'canceled';
    return { id, satisfied: found.state === 'done' || (endedBadly && policy === 'release'), endedBadly };
  });
}

function idOfLine(line: number, ids: number[], where: string): number {
  const id = ids[line - 1];
  if (id !== undefined) return id;
  throw new LanewayError(
    'INVALID_INPUT',
    `${where}needs names line ${line}, which is no earlier line of this batch`,
    'name an earlier line, counted from 1',
  );
}
