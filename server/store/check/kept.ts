/** Invariants of what is kept beside the facts: counters, heads of lanes, environments, needs left, ceilings. */
import { offending, firstOf, REPORT } from './invariant.ts';
import type { Finding, Invariant } from './invariant.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

/** Every counter beside what it stands for. */
const COUNTED = `
SELECT name, n, (SELECT count(*) FROM job_runtime WHERE state = name) AS counted
  FROM counters WHERE name IN ('blocked', 'queued', 'running')
UNION ALL SELECT name, n, (SELECT count(*) FROM job_outcomes WHERE state = name)
  FROM counters WHERE name IN ('done', 'dead', 'canceled')
UNION ALL SELECT name, n, (SELECT count(*) FROM job_runtime WHERE state = 'queued' AND due = 0)
  FROM counters WHERE name = 'delayed'
UNION ALL SELECT name, n, (SELECT count(*) FROM job_runtime WHERE state = 'queued' AND backing_off = 1)
  FROM counters WHERE name = 'backing_off'
UNION ALL SELECT name, n, (SELECT coalesce(sum(coalesce(stdout_bytes, 0)
    + (stderr_path IS NOT stdout_path) * coalesce(stderr_bytes, 0)), 0) FROM attempts)
  FROM counters WHERE name = 'log_bytes'`;

const COUNTED_IN_LANES = `
WITH live AS (
  SELECT lane, sum(state = 'running') AS running, sum(state = 'queued') AS queued,
    sum(state = 'queued' AND due = 0) AS delayed, sum(state = 'blocked') AS blocked
  FROM job_runtime GROUP BY lane)
SELECT l.name FROM lanes l LEFT JOIN live ON live.lane = l.name
WHERE l.running <> coalesce(live.running, 0) OR l.queued <> coalesce(live.queued, 0)
  OR l.delayed <> coalesce(live.delayed, 0) OR l.blocked <> coalesce(live.blocked, 0)`;

function counters(r: Reader): Finding {
  const rows = statement<{ name: string; n: number; counted: number }>(r.db, COUNTED).all();
  const wrong = rows.filter((row) => row.n !== row.counted);
  if (wrong.length > 0) {
    return `counters that are not what is counted: ${wrong.map((row) => `${row.name} ${row.n}, counted ${row.counted}`).join('; ')}`;
  }
  return rows.length === 9 ? null : `${9 - rows.length} of 9 counters are missing`;
}

const WRONG_HEADS = `
SELECT l.name FROM lanes l WHERE (l.head_priority, l.head_run_at, l.head_id) IS NOT (
  SELECT priority, next_run_at, job_id FROM job_runtime
  WHERE lane = l.name AND state = 'queued' AND due = 1 ORDER BY priority DESC, next_run_at, job_id LIMIT 1)`;

/** Lanes where more runs than slots allow, and no lowering of the slots after the newest claim explains it. */
const OVERFULL = `
SELECT l.name || ' (' || l.running || ' running, ' || l.slots || ' slots)' FROM lanes l
WHERE l.running > l.slots AND NOT EXISTS (
  SELECT 1 FROM job_events e WHERE e.event_type = 'lane_changed' AND e.job_id IS NULL
    AND e.detail ->> 'lane' = l.name AND e.detail ->> '$.settings.slots' IS NOT NULL
    AND e.id > (SELECT max(c.id) FROM job_runtime r
      JOIN job_events c ON c.job_id = r.job_id AND c.event_type = 'claimed' AND c.attempt = r.attempts
      WHERE r.state = 'running' AND r.lane = l.name))`;

export const KEPT: readonly Invariant[] = [
  {
    id: 'counters',
    deep: true,
    holds: 'the kept counts are what is counted',
    hint: REPORT,
    find: (r) =>
      firstOf(
        () => counters(r),
        () => offending(r, 'lanes whose kept counts are not what is counted', COUNTED_IN_LANES),
        () =>
          offending(
            r,
            'lanes that live jobs name and that do not exist',
            'SELECT DISTINCT lane FROM job_runtime WHERE lane NOT IN (SELECT name FROM lanes)',
          ),
      ),
  },
  {
    id: 'lane-heads',
    deep: true,
    holds: 'every lane names the job that is its first',
    hint: 'Add or cancel any job of the lane: that finds its first job anew. And please report it.',
    find: (r) => offending(r, 'lanes that name another job than their first', WRONG_HEADS),
  },
  {
    id: 'lane-ceilings',
    deep: true,
    holds: 'no lane runs more jobs than the slots that admitted them',
    hint: REPORT,
    find: (r) => offending(r, 'lanes that run more than their slots', OVERFULL),
  },
  {
    id: 'environments',
    deep: true,
    holds: 'every captured environment belongs to a job',
    hint: REPORT,
    find: (r) =>
      offending(
        r,
        'environments that no job has',
        'SELECT e.id FROM environments e WHERE NOT EXISTS (SELECT 1 FROM jobs j WHERE j.environment_id = e.id)',
      ),
  },
  {
    id: 'needs',
    deep: true,
    holds: 'blocked jobs wait for as many jobs as they have needs left',
    hint: 'Start the server: it settles what is left over. If this stays, please report it.',
    find: (r) =>
      firstOf(
        () =>
          offending(
            r,
            'live jobs with another number of needs left than needs open',
            `SELECT r.job_id FROM job_runtime r
             WHERE r.needs_left <> (SELECT count(*) FROM job_needs n WHERE n.job_id = r.job_id AND n.satisfied = 0)`,
          ),
        () =>
          offending(
            r,
            'blocked jobs whose open need is done and is not being settled',
            `SELECT n.job_id FROM job_runtime r JOIN job_needs n ON n.job_id = r.job_id AND n.satisfied = 0
             JOIN job_outcomes o ON o.job_id = n.need_id AND o.state = 'done'
             WHERE r.state = 'blocked' AND n.need_id NOT IN (SELECT job_id FROM settlements)`,
          ),
      ),
  },
];
