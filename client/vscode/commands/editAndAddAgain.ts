/** `laneway.editAndAddAgain`: the add flow, prefilled with a job that exists. */
import { readTyped, formOf, lineOf } from '../addJob/jobForm.ts';
import type { Command } from '../context.ts';
import { askAndAdd } from './addJob.ts';
import { resolveJob } from './target.ts';

export const editAndAddAgain: Command = {
  id: 'laneway.editAndAddAgain',
  doing: 'add the job again',
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, { title: 'Edit and add which job again?' });
    if (!target) return undefined;
    const form = formOf(target.job);
    const line = lineOf(form.argv);
    // A line the flow would read as something else, e.g. one with a newline, is not offered for typing.
    const same = !line.includes('\n') && sameArgv(readTyped(line, process.platform)?.argv, form.argv);
    return await askAndAdd(laneway, target, same ? { form, typed: line } : { form, settled: true });
  },
};

function sameArgv(a: readonly string[] | undefined, b: readonly string[]): boolean {
  return a?.length === b.length && a.every((arg, index) => arg === b[index]);
}
