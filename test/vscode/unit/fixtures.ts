/** Jobs, lanes and a queue of no server, for tests of the extension's pure parts. */
import type { Attempt, Counts, Job, Lane } from '../../../shared/job.ts';
import type { Queue } from '../../../client/vscode/context.ts';

export const NOW = Date.parse('2031-05-04T12:00:00.000Z');

/** A moment so many milliseconds before `NOW`. */
export function ago(ms: number): string {
  return new Date(NOW - ms).toISOString();
}

/** A queued job, due and first in its lane, with what is given on top. */
export function job(id: number, more: Partial<Job> = {}): Job {
  const state = more.state ?? 'queued';
  return {
    id,
    lane: 'default',
    argv: ['npm', 'test'],
    cwd: '/w',
    label: null,
    tags: {},
    priority: 0,
    state,
    phase: state === 'queued' ? 'ready' : state,
    waitReason: null,
    nextRunAt: state === 'queued' ? ago(60_000) : null,
    attempts: 0,
    failures: 0,
    maxRetries: 0,
    crashes: 0,
    maxCrashes: 2,
    retryDelayMs: 2000,
    retryMaxDelayMs: 60_000,
    timeoutMs: null,
    cancelGraceMs: 10_000,
    split: false,
    key: null,
    needs: [],
    onNeedFailure: 'cancel',
    rerunOf: null,
    envNames: [],
    createdAt: ago(60_000),
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    signal: null,
    failureReason: null,
    workerId: null,
    cancelRequested: false,
    ...more,
  };
}

export function attempt(jobId: number, number: number, more: Partial<Attempt> = {}): Attempt {
  return {
    jobId,
    number,
    state: 'running',
    workerId: 'w',
    fence: 1,
    pid: 42,
    startedAt: ago(5000),
    finishedAt: null,
    durationMs: null,
    exitCode: null,
    signal: null,
    failureReason: null,
    error: null,
    stdoutPath: '/logs/1.log',
    stderrPath: '/logs/1.log',
    stdoutBytes: null,
    stderrBytes: null,
    ...more,
  };
}

export function lane(name: string, more: Partial<Lane> = {}): Lane {
  return {
    name,
    slots: 1,
    paused: false,
    running: 0,
    queued: 0,
    scheduled: 0,
    blocked: 0,
    timeoutMs: null,
    cancelGraceMs: null,
    maxRetries: null,
    retryDelayMs: null,
    retryMaxDelayMs: null,
    pauseOnFailure: false,
    ...more,
  };
}

export function counts(more: Partial<Counts> = {}): Counts {
  return { blocked: 0, queued: 0, running: 0, done: 0, failed: 0, dead: 0, canceled: 0, ...more };
}

/** A queue by name only. */
export const queue = { name: 'w', root: '/w', cache: { counts: null } } as unknown as Queue;
