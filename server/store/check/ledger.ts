/** The ledger against the state machine, job by job in one pass over its index. */
import type { EventType } from '../../../shared/event.ts';
import type { JobState } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';
import type { Finding, Invariant } from './invariant.ts';
import { firstOf, name, offending, REPORT } from './invariant.ts';
import { follow, START } from './legalPath.ts';
import type { Standing } from './legalPath.ts';

const IN_ORDER = `SELECT id, job_id, attempt, event_type, detail FROM job_events
WHERE job_id IS NOT NULL ORDER BY job_id, id`;
const STATE = `SELECT coalesce((SELECT state FROM job_runtime WHERE job_id = j.id),
  (SELECT state FROM job_outcomes WHERE job_id = j.id)) AS state FROM jobs j WHERE j.id = ?`;

interface Row {
  id: number;
  job_id: number;
  attempt: number | null;
  event_type: EventType;
  detail: string;
}

/** One job's events so far. */
interface Path {
  jobId: number;
  standing: Standing;
  wrong: string | null;
  /** Once pruned the rest of its history is going or gone. */
  pruned: boolean;
}

/** Faults found before the pass gives up looking for more. */
const ENOUGH = 6;

function paths(r: Reader): Finding {
  const faults: string[] = [];
  const close = (path: Path | null): void => {
    const fault = path === null || path.pruned ? null : (path.wrong ?? compare(r, path));
    if (fault !== null) faults.push(fault);
  };
  let path = null as Path | null;
  for (const row of statement<Row>(r.db, IN_ORDER).iterate()) {
    if (path?.jobId !== row.job_id) {
      close(path);
      if (faults.length >= ENOUGH) break;
      path = { jobId: row.job_id, standing: START, wrong: null, pruned: false };
    }
    advance(path, row);
  }
  if (faults.length < ENOUGH) close(path);
  return faults.length === 0 ? null : name('jobs whose events are no path of the state machine', faults);
}

function advance(path: Path, row: Row): void {
  path.pruned = row.event_type === 'pruned';
  if (path.wrong !== null) return;
  const detail = JSON.parse(row.detail) as Record<string, unknown>;
  const next = follow(path.standing, { type: row.event_type, attempt: row.attempt, detail });
  if (typeof next === 'string') path.wrong = `job ${path.jobId} (event ${row.id}: ${next})`;
  else path.standing = next;
}

/** Whether the path leads to where the job stands. Runs while the pass reads: on the same connection, which may. */
function compare(r: Reader, { jobId, standing }: Path): string | null {
  const found = statement<{ state: JobState | null }>(r.db, STATE).get(jobId);
  if (found === undefined) return `job ${jobId} (its rows are gone, and no event says that it was pruned)`;
  if (found.state === standing.at) return null;
  return `job ${jobId} (its events lead to ${standing.at}, its state is ${found.state ?? 'none'})`;
}

export const LEDGER: readonly Invariant[] = [
  {
    id: 'event-paths',
    deep: true,
    holds: 'the events of every job are a path of the state machine, up to its state',
    hint: REPORT,
    find: (r) =>
      firstOf(
        () =>
          offending(
            r,
            'jobs without events',
            'SELECT id FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM job_events WHERE job_id = j.id)',
          ),
        () => paths(r),
      ),
  },
];
