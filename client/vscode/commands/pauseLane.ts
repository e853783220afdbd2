/** `laneway.pauseLane` and `laneway.resumeLane`. Each returns the lane. */
import { Pause, Resume } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { resolveLane } from './target.ts';

export const pauseLane: Command = {
  id: 'laneway.pauseLane',
  doing: 'pause the lane',
  async run(laneway, argument) {
    const target = await resolveLane(laneway, argument, 'Pause which lane?', (lane) => !lane.paused);
    return target && (await target.queue.request(Pause, { lanes: [target.lane] })).lanes[0];
  },
};

export const resumeLane: Command = {
  id: 'laneway.resumeLane',
  doing: 'resume the lane',
  async run(laneway, argument) {
    const target = await resolveLane(laneway, argument, 'Resume which lane?', (lane) => lane.paused);
    return target && (await target.queue.request(Resume, { lanes: [target.lane] })).lanes[0];
  },
};
