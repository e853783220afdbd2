/** The end of a verb over several jobs: each result printed, exit status 5 when any failed. */
import type { JobResult } from '../../shared/protocol.ts';
import { resultLines } from './render/jobs.ts';
import { viewOf } from './render/view.ts';
import type { Context } from './verb.ts';

export function finish(context: Context, results: readonly JobResult[], says: (result: JobResult) => string): number {
  if (context.json) context.print({ results });
  else {
    const { out, errors } = resultLines(results, says, viewOf(context));
    if (out.length > 0) context.out(`${out.join('\n')}\n`);
    for (const line of errors) context.note(line);
  }
  return results.some(({ error }) => error !== null) ? 5 : 0;
}
