/** What a job may say of itself from inside: finished stages and durable sleeps. No server needed. */
import { LanewayError } from '../shared/errors.ts';
import { type Env, statePaths } from '../shared/paths.ts';
import type { InJob } from '../shared/serverModule.ts';
import { duration } from '../shared/check.ts';
import { validateStageName } from '../shared/validateQuery.ts';
import { parsePoints } from './run/points.ts';
import type { Clock, Owner, Store } from './store/api.ts';
import { openStore } from './store/open.ts';
import * as queries from './store/queries/index.ts';
import * as transitions from './store/transitions/index.ts';

export interface InJobParts {
  env: Env;
  clock: Clock;
}

/** The stored stdout of a finished stage, else null. @throws CONFLICT when this attempt owns the job no longer. */
export function readCheckpoint(job: InJob, name: string, parts: InJobParts): Promise<Uint8Array | null> {
  const stage = validateStageName(name);
  return withStore(job, parts, (store) =>
    store.read((reader) => {
      const current = queries.job(reader, job.jobId);
      const attempt = queries.attempt(reader, job.jobId, null);
      if (current?.state !== 'running' || attempt?.number !== job.attempt || attempt.fence !== job.fence) {
        throw new LanewayError(
          'CONFLICT',
          `attempt ${job.attempt} of job ${job.jobId} does not own the job any more`,
          'This process belongs to an attempt that was given up; it should end.',
        );
      }
      return queries.checkpointOutput(reader, job.jobId, stage);
    }),
  );
}

/** @throws CONFLICT for a stale attempt; INVALID_INPUT over the size limit. */
export function writeCheckpoint(job: InJob, name: string, stdout: Uint8Array, parts: InJobParts): Promise<void> {
  const stage = validateStageName(name);
  return withStore(job, parts, (store) => store.write((tx) => transitions.checkpoint(tx, ownerOf(job), stage, stdout)));
}

/** @throws CONFLICT for a stale attempt. */
export function recordSleep(
  job: InJob,
  name: string,
  durationMs: number,
  parts: InJobParts,
): Promise<{ elapsed: boolean; until: number }> {
  const stage = validateStageName(name);
  const ms = duration(durationMs, 'duration');
  return withStore(job, parts, (store) => store.write((tx) => transitions.sleep(tx, ownerOf(job), stage, ms)));
}

function ownerOf({ jobId, attempt, workerId, fence }: InJob): Owner {
  return { jobId, attempt, workerId, fence };
}

async function withStore<T>(job: InJob, { env, clock }: InJobParts, act: (store: Store) => T | Promise<T>): Promise<T> {
  const { folder } = statePaths(job.workspace, env);
  const store = await openStore({ folder, clock, mustExist: true, point: parsePoints(env['LANEWAY_TEST_POINTS']) });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}
