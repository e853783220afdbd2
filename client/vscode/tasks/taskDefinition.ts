/** A `tasks.json` entry of type `laneway` as a job, and a job's ending as a task's exit code. Pure. */
import { parseDuration } from '../../../shared/duration.ts';
import { LanewayError } from '../../../shared/errors.ts';
import type { AddRequest, Job } from '../../../shared/job.ts';
import { readTyped } from '../addJob/jobForm.ts';

/** What `contributes.taskDefinitions` allows. */
export interface TaskDefinition {
  type: 'laneway';
  /** A command line, split by shell quoting; run in a shell when it needs one. */
  command?: string;
  /** Or exactly these words. */
  argv?: string[];
  lane?: string;
  cwd?: string;
  env?: Record<string, string>;
  priority?: number;
  retries?: number;
  timeout?: string | number;
  key?: string;
}

/**
 * The job of a task. Its label is the task's name.
 * @throws INVALID_INPUT when the task names no command.
 */
export function taskRequest(
  task: TaskDefinition,
  name: string,
  platform: NodeJS.Platform,
  comspec?: string,
): AddRequest {
  const argv = task.argv ?? readTyped(task.command ?? '', platform, comspec)?.argv;
  if (!argv?.length) {
    throw new LanewayError(
      'INVALID_INPUT',
      `the task "${name}" has no command`,
      'Give it "command" or "argv" in tasks.json.',
    );
  }
  return {
    argv,
    label: name,
    lane: task.lane ?? null,
    cwd: task.cwd ?? null,
    env: task.env ?? null,
    priority: task.priority ?? null,
    maxRetries: task.retries ?? null,
    timeoutMs: task.timeout === undefined ? null : parseDuration(String(task.timeout), { what: 'timeout' }),
    key: task.key ?? null,
  };
}

/** As `lane run` exits: the job's code, 124 for a time-out, 127 when it could not start, 130 when canceled, else 1. */
export function taskExit(job: Pick<Job, 'state' | 'exitCode' | 'failureReason'>): number {
  if (job.state === 'done') return 0;
  if (job.state === 'canceled') return 130;
  if (job.failureReason === 'timeout') return 124;
  if (job.failureReason === 'spawn_failed') return 127;
  return job.exitCode === null || job.exitCode === 0 ? 1 : job.exitCode;
}
