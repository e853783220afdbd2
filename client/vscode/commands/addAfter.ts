/** `laneway.addAfter`: add a job that runs once others are done. */
import type { Command } from '../context.ts';
import { askAndAdd } from './addJob.ts';
import { resolveJobs } from './target.ts';

export const addAfter: Command = {
  id: 'laneway.addAfter',
  doing: 'add the job',
  async run(laneway, argument, selected) {
    const target = await resolveJobs(laneway, argument, selected, {
      title: 'Run after which jobs?',
      states: ['blocked', 'queued', 'running', 'done'],
    });
    if (!target) return undefined;
    const lane = target.jobs[0]?.lane ?? null;
    return await askAndAdd(laneway, target, { form: { needs: target.jobs.map(({ id }) => id), lane } });
  },
};
