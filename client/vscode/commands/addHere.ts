/** `laneway.addHere`: add a job to the lane the menu was opened on. */
import type { Command } from '../context.ts';
import { askAndAdd } from './addJob.ts';
import { resolveLane } from './target.ts';

export const addHere: Command = {
  id: 'laneway.addHere',
  doing: 'add the job',
  async run(laneway, argument) {
    const target = await resolveLane(laneway, argument, 'Add to which lane?');
    return target && (await askAndAdd(laneway, target, { form: { lane: target.lane } }));
  },
};
