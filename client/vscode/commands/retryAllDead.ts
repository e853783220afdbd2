/** `laneway.retryAllDead`: retry every dead job of a lane, or of the queue when called on none. */
import { Retry } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { laneOf } from './arguments.ts';
import { report } from './results.ts';
import { resolveQueue } from './target.ts';

export const retryAllDead: Command = {
  id: 'laneway.retryAllDead',
  doing: 'retry the dead jobs',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const selection = { all: true, lane: laneOf(argument), states: ['dead' as const] };
    const { results } = await queue.request(Retry, { selection });
    return report(results, 'retried');
  },
};
