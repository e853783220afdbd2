/** Results of a verb over several jobs: told at once when some failed, and returned to the caller. */
import { fromErrorData } from '../../../shared/errors.ts';
import { sayCount } from '../../../shared/format.ts';
import type { JobResult } from '../../../shared/protocol.ts';
import { tell } from '../messages/tell.ts';

/**
 * The results; a message names how many did not work and the first reason.
 * @throws the only error when there is one job
 */
export function report<R extends JobResult>(results: R[], done: string): R[] {
  const failed = results.filter(({ error }) => error !== null);
  const [first] = failed;
  if (!first?.error) return results;
  if (results.length === 1) throw fromErrorData(first.error);
  const all = `${failed.length} of ${sayCount(results.length, 'job')} could not be ${done}`;
  tell('warning', `${all}: ${first.error.message}.`, [{ title: 'Find Job', command: 'laneway.findJob' }]);
  return results;
}
