/** The groups of the states view: which one a job stands in, and how many each holds. Pure. */
import type { Counts, Job } from '../../../shared/job.ts';

/** The groups of the states view, in their order. */
export const GROUPS = ['running', 'queued', 'scheduled', 'blocked', 'dead', 'done', 'canceled'] as const;
export type Group = (typeof GROUPS)[number];

/** The group of the states view a job stands in. */
export function groupOf(job: Job): Group {
  switch (job.state) {
    case 'queued':
      return job.phase === 'scheduled' || job.phase === 'retrying' ? 'scheduled' : 'queued';
    case 'running':
    case 'blocked':
    case 'dead':
    case 'done':
    case 'canceled':
      return job.state;
  }
}

/** How many jobs a group holds, by the counts that hints carry. */
export function groupCount(group: Group, counts: Counts, scheduled: number): number {
  switch (group) {
    case 'queued':
      return Math.max(0, counts.queued - scheduled);
    case 'scheduled':
      return scheduled;
    case 'running':
    case 'blocked':
    case 'dead':
    case 'done':
    case 'canceled':
      return counts[group];
  }
}
