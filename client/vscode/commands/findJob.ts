/** `laneway.findJob`: a quick pick over all jobs, then what can be done with the chosen one. Returns the job. */
import * as vscode from 'vscode';
import type { Command, JobHandle } from '../context.ts';
import { type ContextWord, jobWords } from '../views/describe.ts';
import { jobName } from '../views/title.ts';
import { resolveJob } from './target.ts';

/** What is offered for a job that has the word, in this order. */
const ACTIONS: readonly { word: ContextWord; label: string; command: string }[] = [
  { word: 'hasLog', label: '$(output) Show log', command: 'laneway.showLog' },
  { word: 'cancelable', label: '$(debug-stop) Cancel', command: 'laneway.cancelJob' },
  { word: 'retryable', label: '$(refresh) Retry', command: 'laneway.retryJob' },
  { word: 'retryable', label: '$(refresh) Retry with what depended on it', command: 'laneway.retryWithDependents' },
  { word: 'rerunnable', label: '$(run-all) Rerun', command: 'laneway.rerunJob' },
  { word: 'bumpable', label: '$(arrow-up) Run next or now', command: 'laneway.bumpJob' },
  { word: 'job', label: '$(add) Run another job after it', command: 'laneway.addAfter' },
  { word: 'job', label: '$(graph) Show in timeline', command: 'laneway.showTimeline' },
  { word: 'job', label: '$(edit) Edit and add again', command: 'laneway.editAndAddAgain' },
  { word: 'job', label: '$(copy) Copy command', command: 'laneway.copyCommand' },
];

export const findJob: Command = {
  id: 'laneway.findJob',
  doing: 'find jobs',
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, { title: 'Find a job' });
    if (!target) return undefined;
    // Who called with an id wants the job; who picked one wants to do something with it.
    if (argument === undefined || argument === null) await offer(target);
    return target.job;
  },
};

async function offer(target: JobHandle): Promise<void> {
  const words = jobWords(target.job);
  const items = ACTIONS.filter(({ word }) => words.includes(word));
  const picked = await vscode.window.showQuickPick(items, { title: jobName(target.job) });
  if (picked) await vscode.commands.executeCommand(picked.command, target);
}
