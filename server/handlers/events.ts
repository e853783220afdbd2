/** The ledger after a cursor, now or once it has moved, and hints that it has. */
import { absent, fields, integer } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import { DEFAULT_EVENTS, MAX_DURATION_MS, MAX_EVENTS, MAX_TIMER_MS } from '../../shared/limits.ts';
import { type Events, EventsHint, type Result, type Subscribe } from '../../shared/protocol.ts';
import { validateLimit, validateRef } from '../../shared/validateQuery.ts';
import type { Call, Context } from '../context.ts';
import * as queries from '../store/queries/index.ts';

export async function events(context: Context, params: unknown, call: Call): Promise<Result<typeof Events>> {
  const given = fields(params ?? {}, 'the request', ['since', 'job', 'limit', 'waitMs']);
  const since = absent(given['since']) ? 0 : integer(given['since'], 'since', 0, Number.MAX_SAFE_INTEGER);
  const limit = validateLimit(given['limit'], DEFAULT_EVENTS, MAX_EVENTS);
  const waitMs = absent(given['waitMs']) ? 0 : integer(given['waitMs'], 'waitMs', 0, MAX_DURATION_MS);
  const ref = absent(given['job']) ? null : validateRef(given['job']);
  const { store, feed, clock } = context;
  const jobId = ref === null ? null : store.read((reader) => queries.resolve(reader, ref));
  const deadline = clock.ticks() + waitMs;
  // A later look need not pass again over what the first one found to be of other jobs.
  let cursor = since;
  for (;;) {
    const seen = feed.version();
    const page = await call.session.inTurn(() =>
      store.read((reader) => queries.events(reader, { since: cursor, jobId, limit })),
    );
    const left = deadline - clock.ticks();
    if (call.signal.aborted) throw new LanewayError('ENVIRONMENT', 'the server ended while this waited', 'Ask again.');
    if (page.events.length > 0 || left <= 0) return page;
    cursor = page.cursor;
    await feed.moved(seen, { timeoutMs: Math.min(left, MAX_TIMER_MS), signal: call.signal });
  }
}

export function subscribe(context: Context, _params: unknown, call: Call): Result<typeof Subscribe> {
  call.session.hold(
    'events',
    context.feed.subscribe((hint) => call.session.notify(EventsHint, hint)),
  );
  return context.feed.summary();
}

export function unsubscribe(_context: Context, _params: unknown, call: Call): null {
  call.session.release('events');
  return null;
}
