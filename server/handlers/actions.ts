/** The verbs that change jobs: cancel, retry, rerun, bump. */
import { absent, fields, flag, integer } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import { LIVE_STATES } from '../../shared/job.ts';
import { MAX_PRIORITY, MIN_PRIORITY } from '../../shared/limits.ts';
import type { Bump, Cancel, JobResult, Rerun, Result, Retry } from '../../shared/protocol.ts';
import { validateRefs, validateSelection } from '../../shared/validateQuery.ts';
import type { Context } from '../context.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';
import { inBatches } from './batches.ts';
import { revivedWith } from './revived.ts';

export async function cancel(context: Context, params: unknown): Promise<Result<typeof Cancel>> {
  const given = fields(params, 'the request', ['selection']);
  const asked = validateSelection(given['selection']);
  // `--all` means what can still be cancelled.
  const selection = asked.all && !asked.states ? { ...asked, states: [...LIVE_STATES] } : asked;
  return { results: await inBatches(context.store, selection, (tx, ids) => transitions.cancel(tx, { ids })) };
}

export async function retry(context: Context, params: unknown): Promise<Result<typeof Retry>> {
  const given = fields(params, 'the request', ['selection', 'force', 'withDependents']);
  const asked = validateSelection(given['selection']);
  const force = truthy(given['force'], 'force');
  const withDependents = truthy(given['withDependents'], 'withDependents');
  // `--all` means every dead job unless states say otherwise.
  const selection = asked.all && !asked.states ? { ...asked, states: ['dead' as const] } : asked;
  const { store } = context;
  const since = store.read((reader) => queries.cursor(reader));
  const results = await inBatches(store, selection, (tx, ids) =>
    transitions.retry(tx, { selection: { ids }, force, withDependents }),
  );
  const roots = results.filter(({ error }) => error === null).map(({ id }) => Number(id));
  return { results, revived: withDependents ? await revivedWith(store, roots, since) : [] };
}

export async function rerun(context: Context, params: unknown): Promise<Result<typeof Rerun>> {
  const given = fields(params, 'the request', ['jobs']);
  const refs = validateRefs(given['jobs']);
  const ids: number[] = [];
  const results: JobResult[] = [];
  for (let left = refs; left.length > 0;) {
    const part = left;
    const step = await context.store.write((tx) => transitions.rerun(tx, part));
    ids.push(...step.ids);
    results.push(...step.results);
    left = step.more ? left.slice(step.results.length) : [];
  }
  return { jobs: context.store.read((reader) => queries.jobs(reader, ids)), results };
}

export async function bump(context: Context, params: unknown): Promise<Result<typeof Bump>> {
  const given = fields(params, 'the request', ['jobs', 'priority', 'now']);
  const jobs = validateRefs(given['jobs']);
  const priority = absent(given['priority'])
    ? null
    : integer(given['priority'], 'priority', MIN_PRIORITY, MAX_PRIORITY);
  const now = truthy(given['now'], 'now');
  if (priority === null && !now) {
    throw new LanewayError('INVALID_INPUT', 'neither a priority nor "now" is given', 'Use --priority N or --now.');
  }
  return {
    results: await inBatches(context.store, { ids: jobs }, (tx, ids) =>
      transitions.bump(tx, { jobs: ids, priority, now }),
    ),
  };
}

function truthy(value: unknown, what: string): boolean {
  return absent(value) ? false : flag(value, what);
}
