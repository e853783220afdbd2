/** A quick pick over jobs. The server searches, so that the newest 100,000 jobs are found as fast as ten. */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { type Job, JOB_STATES, type StateFilter } from '../../../shared/job.ts';
import { List } from '../../../shared/protocol.ts';
import type { JobHandle, Queue } from '../context.ts';
import { withoutIcons } from '../messages/plainText.ts';
import { iconOf } from '../views/icons.ts';
import { jobStatus } from '../views/describe.ts';
import { jobName } from '../views/title.ts';

/** Which job is asked for. */
export interface JobQuestion {
  /** Title of the quick pick, e.g. `Cancel which job?`. */
  title: string;
  /** States offered; absent: all. */
  states?: StateFilter[];
  /** A finer test on top of `states`. */
  fits?: (job: Job) => boolean;
}

interface JobItem extends vscode.QuickPickItem {
  job: Job | null;
}

/** Typing pauses this long, in milliseconds, before the server is asked. */
const TYPING_MS = 150;
const PAGE = 100;

/** One job, or undefined when the person backed out. */
export async function pickJob(queue: Queue, question: JobQuestion): Promise<JobHandle | undefined> {
  const jobs = await pick(queue, question, false);
  const job = jobs?.[0];
  return job && { queue, job };
}

/** Any number of jobs, or undefined when the person backed out. */
export async function pickJobs(queue: Queue, question: JobQuestion): Promise<Job[] | undefined> {
  const jobs = await pick(queue, question, true);
  return jobs && jobs.length > 0 ? jobs : undefined;
}

async function pick(queue: Queue, question: JobQuestion, many: boolean): Promise<Job[] | undefined> {
  const first = await read(queue, question, '');
  const quickPick = vscode.window.createQuickPick<JobItem>();
  const resources: vscode.Disposable[] = [quickPick];
  let timer: NodeJS.Timeout | undefined;
  let asked = 0;
  quickPick.title = question.title;
  quickPick.placeholder = first.length === 0 ? 'No job fits' : 'Type a part of the command, label or id';
  quickPick.canSelectMany = many;
  quickPick.items = first.map((job) => jobItem(queue, job));
  try {
    return await new Promise<Job[] | undefined>((resolve) => {
      const search = async (text: string): Promise<void> => {
        const turn = ++asked;
        quickPick.busy = true;
        try {
          const found = await read(queue, question, text);
          if (turn !== asked) return;
          const kept = quickPick.selectedItems;
          const keptIds = new Set(kept.map(({ job }) => job?.id));
          const items = found.map((job) => jobItem(queue, job)).filter(({ job }) => !keptIds.has(job?.id));
          quickPick.items = many ? [...kept, ...items] : items;
          if (many) quickPick.selectedItems = kept;
        } catch (error) {
          quickPick.items = [
            { label: `$(warning) ${withoutIcons(toErrorData(error).message)}`, alwaysShow: true, job: null },
          ];
        } finally {
          if (turn === asked) quickPick.busy = false;
        }
      };
      resources.push(
        quickPick.onDidChangeValue((text) => {
          clearTimeout(timer);
          timer = setTimeout(() => void search(text), TYPING_MS);
        }),
        quickPick.onDidAccept(() => resolve(quickPick.selectedItems.flatMap(({ job }) => job ?? []))),
        quickPick.onDidHide(() => resolve(undefined)),
      );
      quickPick.show();
    });
  } finally {
    clearTimeout(timer);
    for (const resource of resources) resource.dispose();
  }
}

async function read(queue: Queue, { states, fits }: JobQuestion, text: string): Promise<Job[]> {
  const { jobs } = await queue.request(List, { states: states ?? [...JOB_STATES], text: text || null, limit: PAGE });
  return fits ? jobs.filter(fits) : jobs;
}

function jobItem(queue: Queue, job: Job): JobItem {
  const icon = iconOf({ kind: 'job', job, id: '', queue });
  return {
    label: `$(${icon?.id ?? 'circle'}) ${withoutIcons(jobName(job))}`,
    description: `${job.lane} · ${withoutIcons(jobStatus(job, Date.now()))}`,
    // The server found it, maybe by what its line does not show.
    alwaysShow: true,
    job,
  };
}
