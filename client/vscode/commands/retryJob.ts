/** `laneway.retryJob`: run dead jobs again, or those that wait for their retry at once. */
import { Retry } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { report } from './results.ts';
import { overQueues, resolveJobs } from './target.ts';

const question = { title: 'Retry which jobs?', states: ['dead' as const, 'retrying' as const] };

function retry(id: string, withDependents: boolean): Command {
  return {
    id,
    doing: 'retry the job',
    async run(laneway, argument, selected) {
      const targets = await resolveJobs(laneway, argument, selected, question);
      if (!targets) return undefined;
      const results = await overQueues(targets, async ({ queue, jobs }) => {
        const selection = { ids: jobs.map(({ id }) => id) };
        const { results: each } = await queue.request(Retry, { selection, withDependents });
        for (const job of jobs) laneway.added(queue, job);
        return each;
      });
      return report(results, 'retried');
    },
  };
}

export const retryJob = retry('laneway.retryJob', false);
/** Also revives what this job's death had settled. */
export const retryWithDependents = retry('laneway.retryWithDependents', true);
