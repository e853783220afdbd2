/**
 * `laneway.showProgress`: a notification while a job waits and runs, whose Cancel cancels the
 * job. Returns the job as it ended; undefined when nobody waited for that.
 */
import * as vscode from 'vscode';
import type { Job } from '../../../shared/job.ts';
import { Cancel, Wait } from '../../../shared/protocol.ts';
import type { Command, Queue } from '../context.ts';
import { withoutLinks } from '../messages/plainText.ts';
import { jobStatus } from '../views/describe.ts';
import { jobName } from '../views/title.ts';
import { resolveJob } from './target.ts';

export const showProgress: Command = {
  id: 'laneway.showProgress',
  doing: 'show the progress',
  async run(laneway, argument) {
    const target = await resolveJob(laneway, argument, {
      title: 'Show the progress of which job?',
      states: ['running', 'queued', 'blocked'],
    });
    return target && (await progressOf(target.queue, target.job));
  },
};

/** Shows until the job ended, the person canceled it, or the connection was lost. */
export async function progressOf(queue: Queue, job: Job): Promise<Job | undefined> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: withoutLinks(jobName(job)),
    cancellable: true,
  };
  return await vscode.window.withProgress(options, async (progress, token) => {
    const tell = (): void => {
      const now = queue.cache.job(job.id);
      if (now) progress.report({ message: withoutLinks(jobStatus(now, Date.now())) });
    };
    const listening = queue.cache.onDidChange(tell);
    const selection = { ids: [job.id] };
    const canceling = token.onCancellationRequested(() => {
      queue.request(Cancel, { selection }).catch(() => undefined);
    });
    try {
      const { jobs } = await queue.request(Wait, { selection });
      return jobs[0];
    } finally {
      listening.dispose();
      canceling.dispose();
    }
  });
}
