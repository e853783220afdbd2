/** The running job that this process finds itself in. */
import { LanewayError } from '../../shared/errors.ts';
import type { InJob } from '../../shared/serverModule.ts';
import { invalid } from './args.ts';
import type { Context } from './verb.ts';

/** @throws LanewayError INVALID_INPUT outside of a job */
export function inJob({ env }: Pick<Context, 'env'>, verb: string): InJob {
  const { LANEWAY_WORKSPACE: workspace, LANEWAY_WORKER: workerId } = env;
  const [jobId, attempt, fence] = ['LANEWAY_JOB_ID', 'LANEWAY_ATTEMPT', 'LANEWAY_FENCE'].map((name) =>
    wholeOf(env[name]),
  );
  if (!workspace || !workerId || !jobId || !attempt || fence === undefined || fence === null) {
    throw new LanewayError(
      'INVALID_INPUT',
      `lane ${verb} works only inside a running job`,
      `Queue a script that calls it: lane add -- ./script.sh`,
    );
  }
  return { workspace, jobId, attempt, fence, workerId };
}

function wholeOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The name of a stage, and the words after it. @throws LanewayError INVALID_INPUT */
export function stageName(words: readonly string[], usage: string): string {
  const [name, ...more] = words;
  if (name === undefined) throw invalid('The stage has no name', usage);
  if (more.length > 0) throw invalid('Too many words', usage);
  return name;
}
