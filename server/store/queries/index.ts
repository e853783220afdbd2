/** Every read of the store. SQL is nowhere outside of it. */
import { check } from '../check/index.ts';
import type { Queries } from '../api.ts';
import { attempt, attempts, checkpointOutput, checkpoints } from './attempts.ts';
import { counts, lane, lanes, logBytes, workers } from './counts.ts';
import { env } from './environments.ts';
import { job, jobs, neededBy, needs } from './jobs.ts';
import { cursor, events, timeline } from './ledger.ts';
import { list, select } from './list.ts';
import { resolve } from './resolve.ts';
import { filesToDelete, prunable } from './retention.ts';
import { anyLive, drainable, nextDue, ownedState, registrations, runningAttempts } from './schedule.ts';
import { settings } from './settings.ts';
import { spans } from './spans.ts';

export {
  anyLive,
  attempt,
  attempts,
  check,
  checkpointOutput,
  checkpoints,
  counts,
  cursor,
  drainable,
  env,
  events,
  filesToDelete,
  job,
  jobs,
  lane,
  lanes,
  list,
  logBytes,
  neededBy,
  needs,
  nextDue,
  ownedState,
  prunable,
  registrations,
  resolve,
  runningAttempts,
  select,
  settings,
  spans,
  timeline,
  workers,
};

/** All of them as one object: the compiler compares it with the contract here. */
export const queries = {
  anyLive,
  attempt,
  attempts,
  check,
  checkpointOutput,
  checkpoints,
  counts,
  cursor,
  drainable,
  env,
  events,
  filesToDelete,
  job,
  jobs,
  lane,
  lanes,
  list,
  logBytes,
  neededBy,
  needs,
  nextDue,
  ownedState,
  prunable,
  registrations,
  resolve,
  runningAttempts,
  select,
  settings,
  spans,
  timeline,
  workers,
} satisfies Queries;
