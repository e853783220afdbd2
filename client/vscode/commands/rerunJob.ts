/** `laneway.rerunJob`: a new job like an ended one. Returns the new jobs. */
import type { Job } from '../../../shared/job.ts';
import { Rerun } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { report } from './results.ts';
import { overQueues, resolveJobs } from './target.ts';

export const rerunJob: Command = {
  id: 'laneway.rerunJob',
  doing: 'rerun the job',
  async run(laneway, argument, selected) {
    const targets = await resolveJobs(laneway, argument, selected, {
      title: 'Rerun which jobs?',
      states: ['done', 'dead', 'canceled'],
    });
    if (!targets) return undefined;
    const added: Job[] = [];
    const results = await overQueues(targets, async ({ queue, jobs: ended }) => {
      const { jobs, results: each } = await queue.request(Rerun, { jobs: ended.map(({ id }) => id) });
      for (const job of jobs) laneway.added(queue, job);
      added.push(...jobs);
      return each;
    });
    report(results, 'rerun');
    return added;
  },
};
