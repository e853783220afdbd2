/** `laneway.cancelJob`: cancel jobs. Returns `{id, state, wasRunning, error}` of each. */
import { Cancel } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { jobWords } from '../views/describe.ts';
import { report } from './results.ts';
import { overQueues, resolveJobs } from './target.ts';

export const cancelJob: Command = {
  id: 'laneway.cancelJob',
  doing: 'cancel the job',
  async run(laneway, argument, selected) {
    const targets = await resolveJobs(laneway, argument, selected, {
      title: 'Cancel which jobs?',
      states: ['running', 'queued', 'blocked'],
      fits: (job) => jobWords(job).includes('cancelable'),
    });
    if (!targets) return undefined;
    const results = await overQueues(targets, async ({ queue, jobs }) => {
      return (await queue.request(Cancel, { selection: { ids: jobs.map(({ id }) => id) } })).results;
    });
    return report(results, 'canceled');
  },
};
