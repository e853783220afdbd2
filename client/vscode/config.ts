/**
 * The settings of `laneway.*`, read when needed so that changes apply without a reload, and
 * turned into what the queue keeps. Reading is through {@link Settings}, a plain function from
 * name to value, so that everything here is pure. `settingNames` is compared with package.json
 * by a test.
 */
import type { LaneSettings, QueueSettings } from '../../shared/job.ts';
import { DEFAULT_LANE, LANE_NAME, MAX_RETRIES, MAX_SLOTS } from '../../shared/limits.ts';
import { parseDuration } from '../../shared/duration.ts';

/** A setting's value by its name without `laneway.`; undefined when the user set none. */
export type Settings = (name: SettingName) => unknown;

export const settingNames = [
  'maxConcurrency',
  'lanes',
  'defaultLane',
  'defaultRetries',
  'notifications',
  'showProgress',
  'statusBar',
  'logTailKiB',
  'forceColor',
  'retention.days',
  'retention.maxLogMiB',
  'logLimitMiB',
  'serverIdleMinutes',
  'cliOnTerminalPath',
  'trace.server',
] as const;
export type SettingName = (typeof settingNames)[number];

export type Notifications = 'failures' | 'all' | 'none';

const MIB = 1_048_576;
const DAY_MS = 86_400_000;

/** Whose failures and successes are told. */
export function notifications(settings: Settings): Notifications {
  const value = settings('notifications');
  return value === 'all' || value === 'none' ? value : 'failures';
}

/** The lane a job goes to when nobody says. */
export function defaultLane(settings: Settings): string {
  const value = settings('defaultLane');
  return typeof value === 'string' && LANE_NAME.test(value) ? value : DEFAULT_LANE;
}

/** Retries of a job added here without any; null leaves it to its lane. */
export function defaultRetries(settings: Settings): number | null {
  return count(settings('defaultRetries'), 0);
}

/** The part of the queue's own settings that the user set here. */
export function queueSettings(settings: Settings): Partial<QueueSettings> {
  const wanted: Partial<QueueSettings> = {};
  const concurrency = count(settings('maxConcurrency'), 0);
  // 0 stands for "one per core" in the settings editor, which cannot offer null.
  if (concurrency !== null) wanted.concurrency = concurrency === 0 ? null : concurrency;
  const days = amount(settings('retention.days'));
  if (days !== null) wanted.retentionMs = Math.round(days * DAY_MS);
  const logs = amount(settings('retention.maxLogMiB'));
  if (logs !== null) wanted.retentionBytes = Math.round(logs * MIB);
  const limit = amount(settings('logLimitMiB'));
  if (limit !== null && limit > 0) wanted.logLimit = Math.round(limit * MIB);
  const idle = amount(settings('serverIdleMinutes'));
  if (idle !== null) wanted.serverIdleMs = Math.round(idle * 60_000);
  return wanted;
}

/** Lanes as the setting `laneway.lanes` has them, and what of it could not be understood. */
export function laneSettings(settings: Settings): { lanes: Map<string, LaneSettings>; problems: string[] } {
  const lanes = new Map<string, LaneSettings>();
  const problems: string[] = [];
  const value = settings('lanes');
  if (value === undefined || value === null) return { lanes, problems };
  if (typeof value !== 'object' || Array.isArray(value)) {
    return { lanes, problems: ['laneway.lanes must be an object with a key per lane'] };
  }
  for (const [name, wanted] of Object.entries(value)) {
    if (!LANE_NAME.test(name)) problems.push(`"${name}" is no lane name`);
    else if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
      problems.push(`laneway.lanes.${name} must be an object`);
    else lanes.set(name, oneLane(name, wanted as Record<string, unknown>, problems));
  }
  return { lanes, problems };
}

/** What a window wrote into a queue's rows, or is to write. */
export interface Written {
  queue: Partial<QueueSettings>;
  lanes: ReadonlyMap<string, LaneSettings>;
}

/**
 * What differs from what was written before, and so is all there is to write: the rest may have been changed elsewhere
 * since. What is no longer set goes back to `usual`, for lanes to null.
 */
export function changedSince(before: Written, now: Written, usual: Partial<QueueSettings>): Written {
  const lanes = new Map<string, LaneSettings>();
  for (const name of new Set([...before.lanes.keys(), ...now.lanes.keys()])) {
    const changed = difference(before.lanes.get(name) ?? {}, now.lanes.get(name) ?? {}, () => null);
    if (Object.keys(changed).length > 0) lanes.set(name, changed);
  }
  return { queue: difference(before.queue, now.queue, (key) => usual[key]), lanes };
}

function difference<T extends object>(before: T, now: T, unset: (key: keyof T) => unknown): T {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])] as (keyof T)[];
  const changed = keys.filter((key) => before[key] !== now[key]);
  return Object.fromEntries(changed.map((key) => [key, now[key] === undefined ? unset(key) : now[key]])) as T;
}

/** Durations a lane can set, by their key in the settings: the same that `lane lanes set` knows. */
const LANE_DURATIONS = {
  timeout: 'timeoutMs',
  grace: 'cancelGraceMs',
  retryDelay: 'retryDelayMs',
  retryMaxDelay: 'retryMaxDelayMs',
} as const;
const LANE_KEYS: ReadonlySet<string> = new Set(['slots', 'retries', 'pauseOnFailure', ...Object.keys(LANE_DURATIONS)]);

function oneLane(name: string, wanted: Record<string, unknown>, problems: string[]): LaneSettings {
  const lane: LaneSettings = {};
  const wrong = (key: string, what: string): void => void problems.push(`laneway.lanes.${name}.${key} must be ${what}`);
  const { slots, retries, pauseOnFailure } = wanted;
  for (const key of Object.keys(wanted)) {
    if (!LANE_KEYS.has(key)) problems.push(`laneway.lanes.${name} knows no "${key}"`);
  }
  if (slots !== undefined) {
    const value = count(slots, 1, MAX_SLOTS);
    if (value === null) wrong('slots', `a whole number from 1 to ${MAX_SLOTS}`);
    else lane.slots = value;
  }
  if (retries !== undefined) {
    const value = count(retries, 0, MAX_RETRIES);
    if (value === null && retries !== null) wrong('retries', `a whole number from 0 to ${MAX_RETRIES}`);
    else lane.maxRetries = value;
  }
  for (const [key, field] of Object.entries(LANE_DURATIONS)) {
    const given = wanted[key];
    if (given === undefined) continue;
    const value = durationOf(given);
    if (value === null && given !== null) wrong(key, 'a duration such as "90s" or "5m"');
    else lane[field] = value;
  }
  if (typeof pauseOnFailure === 'boolean') lane.pauseOnFailure = pauseOnFailure;
  else if (pauseOnFailure !== undefined) wrong('pauseOnFailure', 'true or false');
  return lane;
}

/** What a settings file says of time: a duration in words, or seconds. Null when it is neither. */
function durationOf(value: unknown): number | null {
  try {
    return typeof value === 'string' || typeof value === 'number' ? parseDuration(String(value)) : null;
  } catch {
    return null;
  }
}

function count(value: unknown, least: number, most = Number.MAX_SAFE_INTEGER): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most ? value : null;
}

function amount(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
