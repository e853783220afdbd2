/** Lanes: their settings, their removal, their pause switch. */
import { LanewayError } from '../../../shared/errors.ts';
import type { Lane, LaneSettings } from '../../../shared/job.ts';
import { DEFAULT_SLOTS } from '../../../shared/limits.ts';
import { quoteValue } from '../../../shared/text.ts';
import type { Tx } from '../api.ts';
import { lane as laneOf } from '../queries/counts.ts';
import { statement } from '../statements.ts';
import { recordLane } from './events.ts';
import { ensureLane } from './heads.ts';

/** Each setting beside its column and the value that null returns it to. */
const COLUMNS: readonly { name: keyof LaneSettings; column: string; unset: number | null }[] = [
  { name: 'slots', column: 'slots', unset: DEFAULT_SLOTS },
  { name: 'timeoutMs', column: 'timeout_ms', unset: null },
  { name: 'cancelGraceMs', column: 'cancel_grace_ms', unset: null },
  { name: 'maxRetries', column: 'max_retries', unset: null },
  { name: 'retryDelayMs', column: 'retry_delay_ms', unset: null },
  { name: 'retryMaxDelayMs', column: 'retry_max_delay_ms', unset: null },
  { name: 'pauseOnFailure', column: 'pause_on_failure', unset: 0 },
];

/** Set what is given of a lane, which is made when it is new. Jobs that were added before keep what they got. */
export function setLane(tx: Tx, name: string, settings: LaneSettings): void {
  ensureLane(tx, name);
  const stored: Record<string, number | null> = {};
  for (const { name: setting, column, unset } of COLUMNS) {
    const given = settings[setting];
    if (given === undefined) continue;
    const value = given === null ? unset : Number(given);
    // Column names come from the table above, values are bound.
    const changed = statement(tx.db, `UPDATE lanes SET ${column} = ? WHERE name = ? AND ${column} IS NOT ?`).run(
      value,
      name,
      value,
    ).changes;
    if (changed > 0) stored[setting] = value;
  }
  if (Object.keys(stored).length > 0) recordLane(tx, { lane: name, change: 'set', settings: stored });
}

/**
 * Forget an empty lane; finished jobs keep its name.
 * @returns the lane as it was
 * @throws NOT_FOUND; CONFLICT while jobs wait or run in it
 */
export function removeLane(tx: Tx, name: string): Lane {
  const lane = known(tx, name);
  const live = lane.running + lane.queued + lane.blocked;
  if (live > 0) {
    throw new LanewayError(
      'CONFLICT',
      `lane ${name} has ${live} ${live === 1 ? 'job' : 'jobs'} that wait or run`,
      `Let them end, or cancel them: lane cancel --all --lane ${name}`,
    );
  }
  statement(tx.db, 'DELETE FROM lanes WHERE name = ?').run(name);
  recordLane(tx, { lane: name, change: 'removed' });
  return lane;
}

/** Claim nothing more of these lanes; all or none. @throws NOT_FOUND */
export function pause(tx: Tx, lanes: string[]): void {
  switchLanes(tx, lanes, true);
}

/** @throws NOT_FOUND */
export function resume(tx: Tx, lanes: string[]): void {
  switchLanes(tx, lanes, false);
}

function switchLanes(tx: Tx, lanes: string[], paused: boolean): void {
  for (const name of lanes) {
    if (known(tx, name).paused === paused) continue;
    statement(tx.db, 'UPDATE lanes SET paused = ? WHERE name = ?').run(paused ? 1 : 0, name);
    recordLane(tx, { lane: name, change: paused ? 'paused' : 'resumed' });
  }
}

function known(tx: Tx, name: string): Lane {
  const lane = laneOf(tx, name);
  if (lane !== null) return lane;
  throw new LanewayError('NOT_FOUND', `there is no lane ${quoteValue(name)}`, 'See the lanes there are: lane lanes');
}
