/** `laneway.rerunJob`: a new job like an ended one. Returns the new jobs. */
import { Rerun } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { report } from './results.ts';
import { resolveJobs } from './target.ts';

export const rerunJob: Command = {
  id: 'laneway.rerunJob',
  doing: 'rerun the job',
  async run(laneway, argument, selected) {
    const target = await resolveJobs(laneway, argument, selected, {
      title: 'Rerun which jobs?',
      states: ['done', 'dead', 'canceled'],
    });
    if (!target) return undefined;
    const { jobs, results } = await target.queue.request(Rerun, { jobs: target.jobs.map(({ id }) => id) });
    for (const job of jobs) laneway.added(target.queue, job);
    report(results, 'rerun');
    return jobs;
  },
};
