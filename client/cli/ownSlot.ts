/** A job that waits for a job of its own lane, whose only slot it holds itself, would wait for ever. */
import { LanewayError } from '../../shared/errors.ts';
import type { AddRequest } from '../../shared/job.ts';
import { DEFAULT_LANE } from '../../shared/limits.ts';
import { Lanes, Show } from '../../shared/protocol.ts';
import type { Context } from './verb.ts';

/**
 * Before anything is queued.
 * @throws LanewayError REFUSED when this process is in a running job that holds the one slot of a lane named
 */
export async function refuseOwnSlot(context: Context, jobs: readonly AddRequest[]): Promise<void> {
  const { LANEWAY_JOB_ID: id, LANEWAY_LANE: own, LANEWAY_WORKSPACE: workspace } = context.env;
  if (own === undefined || workspace !== context.workspace) return;
  if (!jobs.some(({ lane }) => (lane ?? DEFAULT_LANE) === own)) return;
  const { lanes } = await context.request(Lanes, null, { execute: true });
  if (lanes.find(({ name }) => name === own)?.slots !== 1) return;
  const holder = await context.request(Show, { job: Number(id) }).catch(() => null);
  if (holder?.job.state !== 'running') return;
  throw new LanewayError(
    'REFUSED',
    `Job ${id} would wait for ever: it holds the only slot of lane ${own}, in which the new job would have to run`,
    `Use another lane (--lane NAME), give this one more slots (lane lanes set ${own} --slots 2), or do not wait (lane add)`,
  );
}
