/** Invariants of jobs and attempts: one side of life each, one owner each, numbers without gaps. */
import type { Invariant } from './invariant.ts';
import { firstOf, offending, REPORT } from './invariant.ts';

/** Jobs that a prune is taking apart over several steps: their history is not whole, and need not be. */
const IS_BEING_PRUNED = `EXISTS (SELECT 1 FROM job_events e WHERE e.job_id = j.id AND e.event_type = 'pruned')`;

const MISNUMBERED = 'jobs whose attempts are not numbered 1 to as many as they count';

/** One pass over a side in the order of its ids, which is that of the attempts as well. */
function misnumbered(side: 'job_runtime' | 'job_outcomes'): string {
  return `SELECT j.id FROM ${side} s JOIN jobs j ON j.id = s.job_id
    WHERE (SELECT count(*) = s.attempts AND (count(*) = 0 OR (min(a.number) = 1 AND max(a.number) = count(*)))
      FROM attempts a WHERE a.job_id = s.job_id) IS NOT 1 AND NOT ${IS_BEING_PRUNED}`;
}

export const SIDES: readonly Invariant[] = [
  {
    id: 'job-sides',
    deep: true,
    holds: 'every job is either live or ended',
    hint: REPORT,
    find: (r) =>
      firstOf(
        () =>
          offending(
            r,
            'jobs that are both live and ended',
            'SELECT job_id FROM job_runtime WHERE job_id IN (SELECT job_id FROM job_outcomes)',
          ),
        () =>
          offending(
            r,
            'jobs that are neither live nor ended',
            `SELECT id FROM jobs j WHERE NOT EXISTS (SELECT 1 FROM job_outcomes WHERE job_id = j.id)
               AND NOT EXISTS (SELECT 1 FROM job_runtime WHERE job_id = j.id)`,
          ),
      ),
  },
  {
    id: 'job-copies',
    deep: true,
    holds: 'lanes and keys of live and ended rows are those of their jobs',
    hint: REPORT,
    find: (r) =>
      firstOf(
        () =>
          offending(
            r,
            'live jobs whose lane or key is not their own',
            `SELECT r.job_id FROM job_runtime r JOIN jobs j ON j.id = r.job_id
             WHERE r.lane <> j.lane OR r.key IS NOT j.key`,
          ),
        () =>
          offending(
            r,
            'ended jobs whose lane is not their own',
            'SELECT o.job_id FROM job_outcomes o JOIN jobs j ON j.id = o.job_id WHERE o.lane <> j.lane',
          ),
      ),
  },
  {
    id: 'running-attempts',
    deep: true,
    holds: 'every running job has one running attempt, with its fence and its worker',
    hint: 'Start the server: its reaper closes what nobody owns. If this stays, please report it.',
    find: (r) =>
      firstOf(
        () =>
          offending(
            r,
            'running jobs without a running attempt of the same number, fence and worker',
            `SELECT r.job_id FROM job_runtime r LEFT JOIN attempts a ON a.job_id = r.job_id AND a.state = 'running'
             WHERE r.state = 'running'
               AND (a.number IS NOT r.attempts OR a.fence IS NOT r.fence OR a.worker_id IS NOT r.worker_id)`,
          ),
        () =>
          offending(
            r,
            'jobs with more than one running attempt',
            `SELECT job_id FROM attempts WHERE state = 'running' GROUP BY job_id HAVING count(*) > 1`,
          ),
        () =>
          offending(
            r,
            'waiting jobs with a running attempt',
            `SELECT a.job_id FROM attempts a JOIN job_runtime r ON r.job_id = a.job_id
             WHERE a.state = 'running' AND r.state <> 'running'`,
          ),
      ),
  },
  {
    id: 'running-owners',
    deep: true,
    holds: 'every running job is owned by a registered worker',
    hint: 'Start the server: its reaper closes what nobody owns. If this stays, please report it.',
    find: (r) =>
      offending(
        r,
        'running jobs whose worker is not registered',
        `SELECT job_id FROM job_runtime WHERE state = 'running' AND worker_id NOT IN (SELECT id FROM workers)`,
      ),
  },
  {
    id: 'ended-attempts',
    deep: true,
    holds: 'no ended job has a running attempt',
    hint: REPORT,
    find: (r) =>
      offending(
        r,
        'ended jobs with a running attempt',
        `SELECT a.job_id FROM attempts a JOIN job_outcomes o ON o.job_id = a.job_id WHERE a.state = 'running'`,
      ),
  },
  {
    id: 'attempt-numbers',
    deep: true,
    holds: 'attempts are numbered 1 to n without gaps',
    hint: REPORT,
    find: (r) =>
      firstOf(
        () => offending(r, MISNUMBERED, misnumbered('job_runtime')),
        () => offending(r, MISNUMBERED, misnumbered('job_outcomes')),
      ),
  },
];
