/** Objects as the server sends them, for tests of what draws them. Only what matters to a test is named there. */
import type { JobEvent, TimelineEntry } from '../../shared/event.ts';
import type { Attempt, Job, Lane, Server, Worker } from '../../shared/job.ts';

/** The moment at which sample renders are drawn. */
export const NOW = Date.parse('2030-05-04T12:00:00.000Z');
export const ago = (ms: number): string => new Date(NOW - ms).toISOString();

export function sampleJob(more: Partial<Job> = {}): Job {
  return {
    id: 12,
    lane: 'default',
    argv: ['npm', 'test'],
    cwd: '/home/me/project',
    label: null,
    tags: {},
    priority: 0,
    state: 'queued',
    phase: 'ready',
    waitReason: null,
    nextRunAt: null,
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
    envNames: ['HOME', 'PATH'],
    createdAt: ago(180_000),
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

export function sampleAttempt(more: Partial<Attempt> = {}): Attempt {
  return {
    jobId: 12,
    number: 1,
    state: 'failed',
    workerId: 'server-1',
    fence: 1,
    pid: 4711,
    startedAt: ago(120_000),
    finishedAt: ago(118_800),
    durationMs: 1200,
    exitCode: 1,
    signal: null,
    failureReason: 'process_exit',
    error: null,
    stdoutPath: '/state/logs/0/12.1.log',
    stderrPath: '/state/logs/0/12.1.log',
    stdoutBytes: 2048,
    stderrBytes: 2048,
    ...more,
  };
}

export function sampleLane(more: Partial<Lane> = {}): Lane {
  return {
    name: 'default',
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

export function sampleWorker(more: Partial<Worker> = {}): Worker {
  return {
    id: 'server-1',
    kind: 'server',
    pid: 99,
    startedAt: ago(3_600_000),
    heartbeatAt: ago(2000),
    lanes: null,
    running: 1,
    concurrency: 4,
    schema: 1,
    ...more,
  };
}

export function sampleServer(more: Partial<Server> = {}): Server {
  return {
    running: true,
    pid: 99,
    version: '0.1.0',
    protocol: 1,
    workspace: '/home/me/project',
    socket: '/run/laneway-0/abc.sock',
    database: '/state/queue.db',
    logs: '/state/logs',
    uptimeMs: 3_600_000,
    clients: 2,
    ...more,
  };
}

let nextEvent = 0;
export function sampleEvent(more: Partial<JobEvent> = {}): TimelineEntry {
  nextEvent += 1;
  const event: JobEvent = {
    id: nextEvent,
    jobId: 12,
    attempt: null,
    type: 'added',
    at: ago(180_000),
    workerId: null,
    detail: {},
    ...more,
  };
  return { kind: 'event', at: event.at, event };
}
