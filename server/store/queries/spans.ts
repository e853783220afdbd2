/** Attempts that overlap a span of time: the bars of the picture of lanes over time. */
import type { Span } from '../../../shared/protocol.ts';
import { quoteArgv } from '../../../shared/shell.ts';
import type { AttemptState } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

/**
 * Ended attempts that began before the span are looked for among this many before it: a long one
 * beside more short ones than that is left out, and the answer says `truncated`.
 */
const LOOK_BACK = 5000;
const TITLE = 200;

const COLUMNS = `a.job_id, a.number, a.state, a.waiting_since, a.started_at, a.finished_at, j.lane, j.label, j.argv
FROM attempts a CROSS JOIN jobs j ON j.id = a.job_id`;
const BEGUN_WITHIN = `SELECT ${COLUMNS} WHERE a.started_at >= ? AND a.started_at < ?
ORDER BY a.started_at DESC LIMIT ?`;
/** The look back comes first, over attempts alone; the few that reach into the span get their jobs. */
const BEGUN_BEFORE = `SELECT ${COLUMNS.replace(
  'FROM attempts a',
  `FROM (
  SELECT * FROM attempts WHERE started_at < ? ORDER BY started_at DESC LIMIT ${LOOK_BACK}) a`,
)} WHERE a.finished_at > ?`;
const LOOKED_BACK = `SELECT 1 FROM attempts WHERE started_at < ? ORDER BY started_at DESC LIMIT 1 OFFSET ${LOOK_BACK}`;
/** The plus keeps the planner from the index of starts: the running are few, the started are all. */
const STILL_RUNNING = `SELECT ${COLUMNS} WHERE a.state = 'running' AND +a.started_at < ?`;

interface Row {
  job_id: number;
  number: number;
  state: AttemptState;
  waiting_since: number;
  started_at: number;
  finished_at: number | null;
  lane: string;
  label: string | null;
  argv: string;
}

/**
 * @param args `from`, `to`: milliseconds since the epoch; `limit`: the newest so many.
 * @returns bars in the order of their starts; `truncated` when some may be missing.
 */
export function spans(
  r: Reader,
  { from, to, limit }: { from: number; to: number; limit: number },
): { spans: Span[]; truncated: boolean } {
  const within = statement<Row>(r.db, BEGUN_WITHIN).all(from, to, limit + 1);
  if (within.length > limit) return { spans: within.slice(0, limit).toReversed().map(toSpan), truncated: true };
  const running = statement<Row>(r.db, STILL_RUNNING).all(Math.min(from, to));
  const before = statement<Row>(r.db, BEGUN_BEFORE).all(from, from);
  const exhausted = statement(r.db, LOOKED_BACK).get(from) !== undefined;
  const rows = [...before, ...running, ...within].sort((a, b) => b.started_at - a.started_at || b.job_id - a.job_id);
  const kept = rows.slice(0, limit).toReversed().map(toSpan);
  return { spans: kept, truncated: exhausted || rows.length > limit };
}

function toSpan(row: Row): Span {
  return {
    jobId: row.job_id,
    lane: row.lane,
    title: (row.label ?? quoteArgv(JSON.parse(row.argv) as string[])).slice(0, TITLE),
    attempt: row.number,
    state: row.state,
    waitingSince: Math.min(row.waiting_since, row.started_at),
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}
