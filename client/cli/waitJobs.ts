/** Waiting for jobs to end, by their ids. */
import type { Connection } from '../../shared/connection.ts';
import { isTerminal, type Job } from '../../shared/job.ts';
import { Wait, type JobRef } from '../../shared/protocol.ts';
import { persist, ServerEnded } from './persist.ts';
import { startProgress } from './progress.ts';
import type { Context } from './verb.ts';

/** The job once it ended. @throws ServerEnded when the server ended first */
export async function endOf(connection: Connection, id: number): Promise<Job> {
  const { jobs, timedOut } = await connection.request(Wait, { selection: { ids: [id] } });
  if (timedOut) throw new ServerEnded();
  return jobs[0]!;
}

/**
 * Waits with progress shown, across restarts of the server.
 * @param timeoutMs null: without end
 */
export async function waitJobs(
  context: Context,
  ids: JobRef[],
  { any = false, timeoutMs = null }: { any?: boolean; timeoutMs?: number | null } = {},
): Promise<{ jobs: Job[]; timedOut: boolean }> {
  const deadline = timeoutMs === null ? Number.POSITIVE_INFINITY : performance.now() + timeoutMs;
  return persist(context, async (connection) => {
    const progress = startProgress(context, connection, ids);
    try {
      const left = Math.max(0, deadline - performance.now());
      const answer = await connection.request(Wait, {
        selection: { ids },
        any,
        timeoutMs: Number.isFinite(left) ? Math.ceil(left) : null,
      });
      // A server that stops answers early.
      if (answer.timedOut && performance.now() < deadline) throw new ServerEnded();
      return answer;
    } finally {
      progress.end();
    }
  });
}

/** 0 when every ended job is done, else 6. */
export function waitStatus(jobs: readonly Job[]): number {
  return jobs.every(({ state }) => state === 'done' || !isTerminal(state)) ? 0 : 6;
}
