/** Reads of jobs: a page of them, one with everything about it, its merged history. */
import { absent, fields, flag, integer, list as listOf, oneOf, sizedText } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import type { Attempt } from '../../shared/job.ts';
import { DEFAULT_LIST, MAX_KEY, MAX_LIST } from '../../shared/limits.ts';
import type { List, Result, Show, Timeline } from '../../shared/protocol.ts';
import {
  validateCursor,
  validateLaneName,
  validateLimit,
  validateRef,
  validateStates,
  validateTags,
} from '../../shared/validateQuery.ts';
import type { Call, Context } from '../context.ts';
import { locateLog } from '../logs/paths.ts';
import * as queries from '../store/queries/index.ts';

const LIST_FIELDS = ['states', 'lane', 'tags', 'key', 'limit', 'cursor', 'text', 'ids', 'order'];

export function list(context: Context, params: unknown, call: Call): Promise<Result<typeof List>> {
  const given = fields(params ?? {}, 'the request', LIST_FIELDS);
  const args = {
    states: validateStates(given['states']),
    lane: absent(given['lane']) ? null : validateLaneName(given['lane']),
    tags: absent(given['tags']) ? null : validateTags(given['tags']),
    key: absent(given['key']) ? null : sizedText(given['key'], 'key', 1, MAX_KEY),
    text: absent(given['text']) ? null : sizedText(given['text'], 'text', 0, 1000) || null,
    ids: absent(given['ids'])
      ? null
      : listOf(given['ids'], 'ids', 0, MAX_LIST).map((id) => integer(id, 'id', 1, Number.MAX_SAFE_INTEGER)),
    limit: validateLimit(given['limit'], DEFAULT_LIST, MAX_LIST),
    cursor: validateCursor(given['cursor']),
    order: absent(given['order']) ? null : oneOf(given['order'], 'order', ['newest', 'claim'] as const),
  };
  return call.session.inTurn(() => context.store.read((reader) => queries.list(reader, args)));
}

export function show(context: Context, params: unknown, call: Call): Promise<Result<typeof Show>> {
  const given = fields(params, 'the request', ['job', 'env']);
  const ref = validateRef(given['job']);
  const env = absent(given['env']) ? false : flag(given['env'], 'env');
  return call.session.inTurn(() =>
    context.store.read((reader) => {
      const id = queries.resolve(reader, ref);
      const job = queries.job(reader, id);
      if (job === null) throw new LanewayError('NOT_FOUND', `there is no job ${id}`, 'See: lane list');
      return {
        job,
        attempts: queries.attempts(reader, id).map((attempt) => placed(attempt, context.paths.logs)),
        needs: queries.needs(reader, id),
        neededBy: queries.neededBy(reader, id),
        checkpoints: queries.checkpoints(reader, id),
        env: env ? queries.env(reader, id) : null,
      };
    }),
  );
}

export function timeline(context: Context, params: unknown, call: Call): Promise<Result<typeof Timeline>> {
  const given = fields(params, 'the request', ['job', 'cursor', 'limit']);
  const ref = validateRef(given['job']);
  const cursor = validateCursor(given['cursor']);
  const limit = validateLimit(given['limit'], MAX_LIST, MAX_LIST);
  return call.session.inTurn(() =>
    context.store.read((reader) => {
      const page = queries.timeline(reader, { jobId: queries.resolve(reader, ref), cursor, limit });
      const entries = page.entries.map((entry) =>
        entry.kind === 'attempt' ? { ...entry, attempt: placed(entry.attempt, context.paths.logs) } : entry,
      );
      return { entries, nextCursor: page.nextCursor };
    }),
  );
}

/** As clients see it: with its log paths where the files are now, if the queue was moved since. */
function placed(attempt: Attempt, logs: string): Attempt {
  const now = (recorded: string | null): string | null => (recorded === null ? null : locateLog(logs, recorded));
  return { ...attempt, stdoutPath: now(attempt.stdoutPath), stderrPath: now(attempt.stderrPath) };
}
