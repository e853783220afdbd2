/** `laneway.addJob`: ask what and where, or add the job object a program passes without asking. */
import type { AddRequest, Job } from '../../../shared/job.ts';
import { addJob as add } from '../addJob/add.ts';
import { askJob, type Prefilled } from '../addJob/flow.ts';
import { lineOf, withHistory } from '../addJob/jobForm.ts';
import { history, rememberHistory } from '../addJob/sources.ts';
import type { Command, Laneway } from '../context.ts';
import { resolveQueue } from './target.ts';

export const addJob: Command = {
  id: 'laneway.addJob',
  doing: 'add the job',
  async run(laneway, argument): Promise<Job | undefined> {
    if (!isRequest(argument)) return await askAndAdd(laneway, argument, { form: {} });
    const queue = await resolveQueue(laneway, argument);
    const { folder: _folder, ...request } = argument;
    return queue && (await add(laneway, queue, request));
  },
};

/** The flow, then the job; undefined when no folder was chosen. */
export async function askAndAdd(laneway: Laneway, place: unknown, prefilled: Prefilled): Promise<Job | undefined> {
  const queue = await resolveQueue(laneway, place);
  if (!queue) return undefined;
  const form = await askJob(laneway, queue, prefilled);
  const job = await add(laneway, queue, form);
  await rememberHistory(laneway.extension, withHistory(history(laneway.extension), lineOf(form.argv)));
  return job;
}

function isRequest(argument: unknown): argument is AddRequest & { folder?: string } {
  if (typeof argument !== 'object' || argument === null) return false;
  const { argv, command } = argument as Record<string, unknown>;
  return Array.isArray(argv) || typeof command === 'string';
}
