/**
 * An attempt's log: a page of it, and hints that there is more. Clients pull bytes from their own
 * offset; a hint carries a size and never bytes, so a slow client costs nothing.
 */
import { absent, fields, flag, integer, oneOf } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import { isTerminal } from '../../shared/job.ts';
import type { Attempt } from '../../shared/job.ts';
import { DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES } from '../../shared/limits.ts';
import { type Follow, LogGrew, type OutputPage, type Result, type Stream } from '../../shared/protocol.ts';
import { validateRef } from '../../shared/validateQuery.ts';
import type { Call, Context } from '../context.ts';
import { throttle } from '../events/throttle.ts';
import { follow as followFile } from '../logs/follow.ts';
import { toText } from '../logs/read.ts';
import * as queries from '../store/queries/index.ts';
import { logPaths } from '../logs/paths.ts';
import { logOf, readLog, sizeOfLog } from './attemptLog.ts';

const STREAMS = ['both', 'stdout', 'stderr'] as const satisfies readonly Stream[];
/** Between two looks whether a followed attempt has ended. */
const END_MS = 30;

interface Target {
  jobId: number;
  /** Null while the job has no attempt. */
  attempt: Attempt | null;
  stream: Stream;
  /** Nothing will be added. */
  ended: boolean;
}

export function output(context: Context, params: unknown, call: Call): Promise<OutputPage> {
  const given = fields(params, 'the request', ['job', 'attempt', 'stream', 'offset', 'limit', 'tail', 'raw']);
  const most = Number.MAX_SAFE_INTEGER;
  const offset = absent(given['offset']) ? 0 : integer(given['offset'], 'offset', 0, most);
  const tail = absent(given['tail']) ? null : integer(given['tail'], 'tail', 0, most);
  const limit = absent(given['limit']) ? DEFAULT_PAGE_BYTES : integer(given['limit'], 'limit', 1, MAX_PAGE_BYTES);
  const raw = absent(given['raw']) ? false : flag(given['raw'], 'raw');
  const target = targetOf(context, given);
  const { jobId, attempt, stream, ended } = target;
  return call.session.inTurn(async () => {
    const log = logOf(attempt, stream, context.paths.logs);
    const page = await readLog(log, { offset, tail, limit, raw, ended });
    return {
      jobId,
      attempt: attempt?.number ?? 0,
      stream,
      text: toText(page.bytes),
      base64: page.bytes.toString('base64'),
      bytes: page.bytes.length,
      offset: page.offset,
      complete: page.complete,
      size: page.size,
    };
  });
}

export async function follow(context: Context, params: unknown, call: Call): Promise<Result<typeof Follow>> {
  const { jobId, attempt, stream, ended } = targetOf(
    context,
    fields(params, 'the request', ['job', 'attempt', 'stream']),
  );
  const log = logOf(attempt, stream, context.paths.logs);
  const number = attempt?.number ?? 0;
  const size = await sizeOfLog(log, ended);
  const answer = { jobId, attempt: number, size, ended };
  if (attempt === null || ended) return answer;

  const name = holdName(jobId, number);
  const tell = (over: boolean): void => {
    sizeOfLog(log, over).then(
      (now) => call.session.notify(LogGrew, { jobId, attempt: number, size: now, ended: over }),
      () => undefined,
    );
  };
  const unfollow = log.map((file) => followFile(file, () => tell(false)));
  const look = throttle(
    END_MS,
    () => context.clock.ticks(),
    () => {
      const now = context.store.read((reader) => queries.attempt(reader, jobId, number));
      if (now?.state === 'running') return;
      call.session.release(name);
      tell(true);
    },
  );
  const off = context.feed.onChange(() => look.ask());
  call.session.hold(name, () => {
    off();
    look.stop();
    for (const end of unfollow) end();
  });
  // It may have ended between the question and the watch.
  look.ask();
  return answer;
}

export function followStop(_context: Context, params: unknown, call: Call): null {
  const given = fields(params, 'the request', ['jobId', 'attempt']);
  const jobId = integer(given['jobId'], 'jobId', 1, Number.MAX_SAFE_INTEGER);
  call.session.release(holdName(jobId, integer(given['attempt'], 'attempt', 0, Number.MAX_SAFE_INTEGER)));
  return null;
}

function holdName(jobId: number, attempt: number): string {
  return `log ${jobId}.${attempt}`;
}

function targetOf(context: Context, given: Record<string, unknown>): Target {
  const ref = validateRef(given['job']);
  const stream = absent(given['stream']) ? 'both' : oneOf(given['stream'], 'stream', STREAMS);
  const wanted = absent(given['attempt']) ? null : integer(given['attempt'], 'attempt', 1, Number.MAX_SAFE_INTEGER);
  return context.store.read((reader) => {
    const jobId = queries.resolve(reader, ref);
    const job = queries.job(reader, jobId);
    if (job === null) throw new LanewayError('NOT_FOUND', `there is no job ${jobId}`, 'See: lane list');
    const attempt = queries.attempt(reader, jobId, wanted);
    if (attempt === null && wanted !== null) {
      const hint = `It has ${job.attempts}; see: lane show ${jobId}`;
      throw new LanewayError('NOT_FOUND', `job ${jobId} has no attempt ${wanted}`, hint);
    }
    const ended = attempt === null ? isTerminal(job.state) : attempt.state !== 'running';
    return { jobId, attempt: attempt && withLogs(attempt, job.split, context.paths.logs), stream, ended };
  });
}

/** Between its claim and its start an attempt has no paths recorded; who follows from then on must still see its logs. */
function withLogs(attempt: Attempt, split: boolean, logs: string): Attempt {
  if (attempt.state !== 'running' || attempt.stdoutPath !== null) return attempt;
  const { stdout, stderr } = logPaths(logs, attempt.jobId, attempt.number, split);
  return { ...attempt, stdoutPath: stdout, stderrPath: stderr };
}
