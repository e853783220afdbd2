/**
 * Answers once the selected jobs have ended. Between two looks nothing is polled: the feed says when the ledger
 * has moved, and only the events since the last look are read, so that a wait for ten thousand jobs costs no more
 * per commit than one for a single job.
 */
import { absent, fields, flag, integer } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import { isTerminal, LIVE_STATES } from '../../shared/job.ts';
import { MAX_DURATION_MS, MAX_EVENTS, MAX_TIMER_MS } from '../../shared/limits.ts';
import type { Job } from '../../shared/job.ts';
import type { Result, Selection, Wait } from '../../shared/protocol.ts';
import { validateSelection } from '../../shared/validateQuery.ts';
import type { Call, Context } from '../context.ts';
import type { Reader } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';

/** Jobs one wait may cover. */
const MAX_WAITED = 100_000;

export async function wait(context: Context, params: unknown, call: Call): Promise<Result<typeof Wait>> {
  const given = fields(params, 'the request', ['selection', 'any', 'timeoutMs']);
  const selection = validateSelection(given['selection']);
  const any = absent(given['any']) ? false : flag(given['any'], 'any');
  const timeoutMs = absent(given['timeoutMs']) ? null : integer(given['timeoutMs'], 'timeoutMs', 0, MAX_DURATION_MS);
  const { store, feed, clock } = context;
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : clock.ticks() + timeoutMs;

  let seen = feed.version();
  const { ids, start } = store.read((reader) => ({
    ids: idsOf(reader, selection),
    start: queries.cursor(reader),
  }));
  const live = new Set(store.read((reader) => queries.jobs(reader, ids).filter(isLive)).map((job) => job.id));
  let cursor = start;
  const over = (): boolean => live.size === 0 || (any && live.size < ids.length);

  while (!over() && !call.signal.aborted) {
    const left = deadline - clock.ticks();
    if (left <= 0) break;
    const moved = await feed.moved(seen, { timeoutMs: Math.min(left, MAX_TIMER_MS), signal: call.signal });
    if (!moved) continue;
    seen = feed.version();
    cursor = store.read((reader) => forgetEnded(reader, live, cursor));
  }
  if (call.signal.aborted) throw new LanewayError('ENVIRONMENT', 'the server ended while this waited', 'Wait again.');
  const jobs = await call.session.inTurn(() => store.read((reader) => queries.jobs(reader, ids)));
  return { jobs, timedOut: !over() };
}

/** Takes jobs that have ended since `cursor` off the set; returns the new cursor. */
function forgetEnded(reader: Reader, live: Set<number>, cursor: number): number {
  for (;;) {
    const page = queries.events(reader, { since: cursor, jobId: null, limit: MAX_EVENTS });
    const touched = page.events
      .filter(({ jobId, type }) => jobId !== null && ENDS.has(type) && live.has(jobId))
      .map(({ jobId }) => jobId ?? 0);
    const ended = new Set(touched);
    for (const job of queries.jobs(reader, touched)) if (isLive(job)) ended.delete(job.id);
    for (const id of ended) live.delete(id);
    cursor = page.cursor;
    if (page.events.length < MAX_EVENTS) return cursor;
  }
}

/** Events after which a job may be terminal or gone. */
const ENDS: ReadonlySet<string> = new Set(['succeeded', 'dead', 'canceled', 'pruned']);

function idsOf(reader: Reader, selection: Selection): number[] {
  if (selection.ids) return [...new Set(selection.ids.map((ref) => queries.resolve(reader, ref)))];
  // Of "all" only what is live at the call can be waited for.
  return queries.select(reader, { ...selection, states: selection.states ?? [...LIVE_STATES] }, MAX_WAITED);
}

function isLive(job: Job): boolean {
  return !isTerminal(job.state);
}
