/** `laneway.addAfter`: add a job that runs once others are done. */
import { LanewayError } from '../../../shared/errors.ts';
import type { Command } from '../context.ts';
import { askAndAdd } from './addJob.ts';
import { resolveJobs } from './target.ts';

export const addAfter: Command = {
  id: 'laneway.addAfter',
  doing: 'add the job',
  async run(laneway, argument, selected) {
    const targets = await resolveJobs(laneway, argument, selected, {
      title: 'Run after which jobs?',
      states: ['blocked', 'queued', 'running', 'done'],
    });
    const target = targets?.[0];
    if (!target) return undefined;
    if (targets.length > 1) {
      throw new LanewayError('INVALID_INPUT', 'the selected jobs are of several folders', 'Select jobs of one folder.');
    }
    const lane = target.jobs[0]?.lane ?? null;
    return await askAndAdd(laneway, target, { form: { needs: target.jobs.map(({ id }) => id), lane } });
  },
};
