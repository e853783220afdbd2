/** A job's output as it is written, attempt after attempt, from an offset that survives a lost connection. */
import type { Connection } from '../../shared/connection.ts';
import type { Job } from '../../shared/job.ts';
import { Events, Follow, FollowStop, LogGrew, Output, type OutputPage, type Stream } from '../../shared/protocol.ts';
import { ConnectionLost } from '../../shared/rpc.ts';
import { persist } from './persist.ts';
import { startProgress } from './progress.ts';
import type { Context } from './verb.ts';
import { endOf } from './waitJobs.ts';

/** Bytes of one page while following. */
export const PAGE_BYTES = 262_144;
/** Milliseconds one request waits for an attempt to start, before it is asked again. */
const LONG_POLL_MS = 60_000;

export interface LogPlace {
  job: number;
  attempt: number;
  stream: Stream;
  /** The next byte to read; advanced while reading. */
  offset: number;
  raw: boolean;
}

/** Reads a log from a place to its end, waiting for more until the attempt has ended. */
export async function followLog(
  connection: Connection,
  place: LogPlace,
  take: (page: OutputPage) => void,
  truncated: () => void = () => undefined,
): Promise<void> {
  const { job, attempt, stream, raw } = place;
  let grown = false;
  let wake = (): void => undefined;
  const off = connection.on(LogGrew, (hint) => {
    if (hint.jobId !== job || hint.attempt !== attempt) return;
    grown = true;
    wake();
  });
  const lost = connection.closed.then(() => {
    throw new ConnectionLost();
  });
  lost.catch(() => undefined);
  try {
    await connection.request(Follow, { job, attempt, stream });
    for (;;) {
      grown = false;
      const page = await connection.request(Output, {
        job,
        attempt,
        stream,
        offset: place.offset,
        limit: PAGE_BYTES,
        raw,
      });
      if (page.size < place.offset) {
        place.offset = 0;
        truncated();
        continue;
      }
      place.offset = page.offset + page.bytes;
      if (page.bytes > 0) take(page);
      if (page.complete) break;
      if (page.bytes > 0 || grown) continue;
      await Promise.race([new Promise<void>((resolve) => (wake = resolve)), lost]);
    }
    await connection.request(FollowStop, { jobId: job, attempt });
  } finally {
    off();
  }
}

export interface FollowOptions {
  /** The first attempt to show. */
  attempt: number;
  streams: Stream[];
  raw: boolean;
  /** Where the first attempt's log begins for us; default 0. */
  offset?: number;
  take: (page: OutputPage) => void;
}

/** Shows a job's output until the job has ended, through retries and restarts of the server. Returns the ended job. */
export async function followJob(context: Context, id: number, options: FollowOptions): Promise<Job> {
  let attempt = options.attempt;
  const placesOf = (offset: number): LogPlace[] =>
    options.streams.map((stream) => ({ job: id, attempt, stream, offset, raw: options.raw }));
  let places = placesOf(options.offset ?? 0);
  let cursor = 0;

  return persist(context, async (connection) => {
    const progress = startProgress(context, connection, [id]);
    const ended = endOf(connection, id);
    ended.catch(() => undefined);
    /** Whether the attempt exists; false once the job has ended without it. */
    const started = async (): Promise<boolean> => {
      for (;;) {
        const poll = connection.request(Events, { job: id, since: cursor, waitMs: LONG_POLL_MS });
        poll.catch(() => undefined);
        const first = await Promise.race([poll, ended]);
        if ('state' in first) return first.attempts >= attempt;
        cursor = first.cursor;
        if (first.events.some((event) => event.type === 'claimed' && (event.attempt ?? 0) >= attempt)) return true;
      }
    };
    try {
      for (;;) {
        progress.show();
        if (!(await started())) return await ended;
        progress.hide();
        const notice = (): void => context.note(`lane: the job cut its log; what follows is from its new beginning`);
        await Promise.all(places.map((place) => followLog(connection, place, options.take, notice)));
        attempt += 1;
        places = placesOf(0);
      }
    } finally {
      progress.end();
    }
  });
}
