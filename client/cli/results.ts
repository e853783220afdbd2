/** The end of a verb over several jobs: each result printed, exit status 5 when any failed. */
import type { JobResult, Revived } from '../../shared/protocol.ts';
import { resultLines, revivedLines } from './render/jobs.ts';
import { viewOf } from './render/view.ts';
import type { Context } from './verb.ts';

/** @param more further fields of the JSON document, and lines about them */
export function finish(
  context: Context,
  results: readonly JobResult[],
  says: (result: JobResult) => string,
  more: { revived?: readonly Revived[] } = {},
): number {
  if (context.json) context.print({ results, ...more });
  else {
    const { out, errors } = resultLines(results, says, viewOf(context));
    out.push(...revivedLines(more.revived ?? [], viewOf(context)));
    if (out.length > 0) context.out(`${out.join('\n')}\n`);
    for (const line of errors) context.note(line);
  }
  return results.some(({ error }) => error !== null) ? 5 : 0;
}
