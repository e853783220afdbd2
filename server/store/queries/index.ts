/** Every read of the store. SQL is nowhere outside of it. */
export { check } from '../check/index.ts';
export { attempt, attempts, checkpointOutput, checkpoints } from './attempts.ts';
export { counts, lane, lanes, logBytes, workers } from './counts.ts';
export { env } from './environments.ts';
export { job, jobs, neededBy, needs } from './jobs.ts';
export { cursor, events, timeline } from './ledger.ts';
export { list, select } from './list.ts';
export { resolve } from './resolve.ts';
export { filesToDelete, prunable } from './retention.ts';
export { anyLive, drainable, nextDue, ownedState, registrations, runningAttempts } from './schedule.ts';
export { settings } from './settings.ts';
export { spans } from './spans.ts';
