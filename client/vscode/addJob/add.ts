/** Adding a job for this window: from a finished form or from a program's job object. */
import path from 'node:path';
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import type { AddRequest, Job } from '../../../shared/job.ts';
import { Add } from '../../../shared/protocol.ts';
import { defaultLane, defaultRetries } from '../config.ts';
import type { Laneway, Queue } from '../context.ts';
import { withoutIcons } from '../messages/plainText.ts';
import { callerEnv } from '../runtime.ts';
import { jobName } from '../views/title.ts';

/** How long the status bar tells of an added job, in milliseconds. */
const TOLD_MS = 5000;

/** Add one job. Its cwd is made absolute, and this window's defaults fill what it leaves open. */
export async function addJob(laneway: Laneway, queue: Queue, request: AddRequest): Promise<Job> {
  const { jobs, deduplicated } = await queue.request(Add, {
    jobs: [complete(laneway, queue, request)],
    caller: { env: callerEnv(process.env), umask: process.umask() },
  });
  const [job] = jobs;
  if (!job) throw new LanewayError('INTERNAL', 'the server answered without the job');
  const again = deduplicated.includes(job.id);
  const words = again ? `${jobName(job)} was in the queue already` : `Added ${jobName(job)} to ${job.lane}`;
  vscode.window.setStatusBarMessage(`$(check) ${withoutIcons(words)}`, TOLD_MS);
  laneway.added(queue, job);
  return job;
}

function complete({ settings }: Laneway, queue: Queue, request: AddRequest): AddRequest {
  const { argv, command, lane, cwd, maxRetries, env } = request;
  if (!argv?.length && !command) {
    throw new LanewayError('INVALID_INPUT', 'the job has no command', 'Give argv, or command for shell text.');
  }
  return {
    ...request,
    lane: lane ?? defaultLane(settings),
    cwd: cwd ? path.resolve(queue.root, cwd) : queue.root,
    maxRetries: maxRetries ?? defaultRetries(settings),
    env: settings('forceColor') === true ? { FORCE_COLOR: '1', ...env } : (env ?? null),
  };
}
