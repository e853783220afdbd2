/**
 * What is going on while a verb waits, on stderr: a live line on a terminal, and elsewhere a
 * plain line whenever something changed. Nothing with `--json`. Hints say when to look; nothing
 * is polled.
 */
import type { Connection } from '../../shared/connection.ts';
import { sayCount, sayDuration, sayLocally } from '../../shared/format.ts';
import type { Job } from '../../shared/job.ts';
import { EventsHint, List, Subscribe, Unsubscribe, type JobRef } from '../../shared/protocol.ts';
import { escapeControls, truncate } from '../../shared/text.ts';
import type { Context } from './verb.ts';

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const FRAME_MS = 100;
/** Waits shorter than this go by without a word. */
const QUIET_MS = 1000;
/** Jobs looked at; of more, only the number is said. */
const MAX_WATCHED = 500;
/** Rows searched for a job's place in its lane. */
const MAX_PLACES = 200;

export interface Progress {
  /** Take the line away while something else is printed. */
  hide(): void;
  show(): void;
  /** Idempotent. */
  end(): void;
}

const NONE: Progress = { hide: () => undefined, show: () => undefined, end: () => undefined };

export function startProgress(context: Context, connection: Connection, refs: readonly JobRef[]): Progress {
  const ids = refs.filter((ref) => typeof ref === 'number');
  if (context.json || ids.length === 0) return NONE;
  const live = context.terminal().progress;
  const began = performance.now();
  let text = ids.length > MAX_WATCHED ? `Waiting for ${sayCount(ids.length, 'job')}` : '';
  let said = '';
  let drawn = false;
  let visible = true;
  let ended = false;
  let looking = false;
  let again = false;
  let frame = 0;

  const wipe = (): void => {
    if (drawn) context.err('\r\u001b[2K');
    drawn = false;
  };
  const paint = (): void => {
    if (!visible || text === '' || performance.now() - began < QUIET_MS) return;
    if (live) {
      const line = `${FRAMES[frame++ % FRAMES.length]} ${text} (${sayDuration(performance.now() - began)})`;
      context.err(`\r\u001b[2K${truncate(line, (process.stderr.columns ?? 80) - 1)}`);
      drawn = true;
    } else if (text !== said) {
      said = text;
      context.note(text);
    }
  };
  const look = async (): Promise<void> => {
    again = true;
    if (looking || ended || ids.length > MAX_WATCHED) return;
    looking = true;
    do {
      again = false;
      const { jobs } = await connection.request(List, { ids, limit: MAX_WATCHED });
      text = progressText(jobs, ids.length, await placeOf(connection, jobs));
    } while (again);
    looking = false;
  };
  // Progress is a courtesy: whatever goes wrong with it must not end the wait.
  const lookQuietly = (): void => void look().catch(() => undefined);

  const timer = setInterval(paint, FRAME_MS);
  timer.unref();
  const off = connection.on(EventsHint, lookQuietly);
  connection.request(Subscribe, null).then(lookQuietly, () => undefined);
  return {
    hide: () => {
      visible = false;
      wipe();
    },
    show: () => {
      visible = true;
    },
    end: () => {
      if (ended) return;
      ended = true;
      clearInterval(timer);
      off();
      wipe();
      connection.request(Unsubscribe, null).catch(() => undefined);
    },
  };
}

/** The 1-based place of a single waiting job among those of its lane that may start; null when it has none. */
async function placeOf(connection: Connection, jobs: readonly Job[]): Promise<number | null> {
  const [job] = jobs;
  if (jobs.length !== 1 || job === undefined || job.phase !== 'ready') return null;
  const { jobs: line } = await connection.request(List, {
    lane: job.lane,
    states: ['ready'],
    order: 'claim',
    limit: MAX_PLACES,
  });
  const index = line.findIndex(({ id }) => id === job.id);
  return index < 0 ? null : index + 1;
}

/** One line about the jobs that are awaited. */
export function progressText(jobs: readonly Job[], total: number, place: number | null): string {
  const [job] = jobs;
  if (total === 1 && job !== undefined) return escapeControls(single(job, place));
  const running = jobs.filter(({ state }) => state === 'running').length;
  const waiting = jobs.filter(({ state }) => state === 'queued' || state === 'blocked').length;
  return `${total - running - waiting} of ${sayCount(total, 'job')} ended, ${running} running, ${waiting} waiting`;
}

function single(job: Job, place: number | null): string {
  const name = job.label === null ? `Job ${job.id}` : `Job ${job.id} (${job.label})`;
  if (job.state === 'running') {
    return job.cancelRequested
      ? `${name} is being stopped`
      : `${name} runs${job.attempts > 1 ? `, attempt ${job.attempts}` : ''}`;
  }
  if (job.state === 'queued' || job.state === 'blocked') {
    const why = job.waitReason === null ? '' : `: ${sayLocally(job.waitReason)}`;
    return `${name} waits in lane ${job.lane}${place === null ? '' : `, place ${place}`}${why}`;
  }
  return `${name} is ${job.state}`;
}
