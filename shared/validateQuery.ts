/** Checks of everything but jobs to add: references, selections, filters, paging, lanes, settings. */
import { absent, duration, fields, flag, integer, invalid, list, oneOf, sizedText, text, textRecord } from './check.ts';
import { STATE_FILTERS } from './job.ts';
import type { StateFilter } from './job.ts';
import {
  LANE_NAME,
  MAX_TAG_KEY,
  MAX_TAG_VALUE,
  MAX_TAGS,
  MAX_BATCH,
  MAX_LABEL,
  MAX_RETRIES,
  MAX_SLOTS,
  MAX_STAGE_NAME,
  MAX_DURATION_MS,
} from './limits.ts';
import type { LaneSettings, QueueSettings } from './job.ts';
import type { JobRef, Selection } from './protocol.ts';
import { quoteValue } from './text.ts';

/** @throws LanewayError INVALID_INPUT */
export function validateLaneName(value: unknown): string {
  if (typeof value === 'string' && LANE_NAME.test(value)) return value;
  throw invalid(
    `lane name ${quoteValue(value)} is not allowed: 1 to 64 of letters, digits, ".", "_", "-", beginning with a letter or digit`,
    'Choose such a name.',
  );
}

/** @throws LanewayError INVALID_INPUT */
export function validateTags(value: unknown): Record<string, string> {
  const entries = textRecord(value, 'tag');
  if (entries.length > MAX_TAGS) {
    throw invalid(`there are ${entries.length} tags; at most ${MAX_TAGS} are allowed`, 'Leave some out.');
  }
  for (const [name, entry] of entries) {
    sizedText(name, 'tag key', 1, MAX_TAG_KEY);
    sizedText(entry, `value of tag ${quoteValue(name)}`, 0, MAX_TAG_VALUE);
    if (name.includes('='))
      throw invalid(`tag key ${quoteValue(name)} holds a "="`, 'Write KEY=VALUE, KEY without "=".');
  }
  return Object.fromEntries(entries);
}

/**
 * An id, `last`, or `label:NAME`; digits as text become a number.
 * @throws LanewayError INVALID_INPUT
 */
export function validateRef(value: unknown): JobRef {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  if (typeof value === 'string') {
    const ref = value.trim();
    if (/^\d{1,15}$/.test(ref) && Number(ref) >= 1) return Number(ref);
    if (ref === 'last') return 'last';
    if (value.startsWith('label:')) return `label:${sizedText(value.slice(6), 'the label', 1, MAX_LABEL)}`;
  }
  throw invalid(
    `${quoteValue(value)} is no job`,
    'Give an id such as 12, "last" for the newest job, or label:NAME for the newest job so labelled.',
  );
}

/** 1 to 10,000 references, each once, in the order given. */
export function validateRefs(value: unknown): JobRef[] {
  return [...new Set(list(value, 'the list of jobs', 1, MAX_BATCH).map(validateRef))];
}

/** Words of a state filter, each once; null when none was given. */
export function validateStates(value: unknown): StateFilter[] | null {
  if (absent(value)) return null;
  const words = list(value, 'the list of states', 0, 100).map((word) => oneOf(word, 'state', STATE_FILTERS));
  return words.length === 0 ? null : [...new Set(words)];
}

const SELECTION_FIELDS = ['ids', 'all', 'lane', 'states', 'tags'];

/**
 * Which jobs a verb means: `ids` alone, or `all` with its filters.
 * @throws LanewayError INVALID_INPUT
 */
export function validateSelection(value: unknown): Selection {
  const given = fields(value, 'the selection', SELECTION_FIELDS);
  const all = absent(given['all']) ? false : flag(given['all'], 'all');
  const filtered = ['lane', 'states', 'tags'].some((name) => !absent(given[name]));
  if (!absent(given['ids'])) {
    if (all || filtered) {
      throw invalid('jobs are chosen both by id and by --all or a filter; one is allowed', 'Leave one of the two out.');
    }
    return { ids: validateRefs(given['ids']) };
  }
  if (!all) throw invalid('no job is chosen', 'Name job ids, or choose with --all.');
  return {
    all,
    lane: absent(given['lane']) ? null : validateLaneName(given['lane']),
    states: validateStates(given['states']),
    tags: absent(given['tags']) ? null : validateTags(given['tags']),
  };
}

/** A page size: the default when absent. @throws LanewayError INVALID_INPUT */
export function validateLimit(value: unknown, fallback: number, most: number): number {
  return absent(value) ? fallback : integer(value, 'limit', 1, most);
}

/** An opaque cursor as text; its meaning is the query's to check. */
export function validateCursor(value: unknown): string | null {
  return absent(value) ? null : sizedText(value, 'cursor', 1, 200);
}

/** 1 to 10,000 lane names, each once. */
export function validateLaneNames(value: unknown): string[] {
  return [...new Set(list(value, 'the list of lanes', 1, MAX_BATCH).map(validateLaneName))];
}

const LANE_FIELDS = [
  'slots',
  'timeoutMs',
  'cancelGraceMs',
  'maxRetries',
  'retryDelayMs',
  'retryMaxDelayMs',
  'pauseOnFailure',
] as const satisfies readonly (keyof LaneSettings)[];

/** Settings of a lane: a field left out stays, null returns it to "not set". @throws LanewayError INVALID_INPUT */
export function validateLaneSettings(value: unknown): LaneSettings {
  const given = fields(value, 'the lane settings', LANE_FIELDS);
  const settings: LaneSettings = {};
  const take = <K extends keyof LaneSettings>(name: K, read: (value: unknown) => LaneSettings[K]): void => {
    if (given[name] === undefined) return;
    settings[name] = given[name] === null ? null : read(given[name]);
  };
  take('slots', (v) => integer(v, 'slots', 1, MAX_SLOTS));
  take('timeoutMs', (v) => duration(v, 'timeout'));
  take('cancelGraceMs', (v) => duration(v, 'grace'));
  take('maxRetries', (v) => integer(v, 'retries', 0, MAX_RETRIES));
  take('retryDelayMs', (v) => duration(v, 'retry delay'));
  take('retryMaxDelayMs', (v) => duration(v, 'longest retry delay'));
  take('pauseOnFailure', (v) => flag(v, 'pause-on-failure'));
  return settings;
}

const SETTING_FIELDS = [
  'concurrency',
  'retentionMs',
  'retentionBytes',
  'logLimit',
  'serverIdleMs',
] as const satisfies readonly (keyof QueueSettings)[];

/** Settings of the whole queue; only `concurrency` may be null. @throws LanewayError INVALID_INPUT */
export function validateSettings(value: unknown): Partial<QueueSettings> {
  const given = fields(value, 'the settings', SETTING_FIELDS);
  const settings: Partial<QueueSettings> = {};
  if (given['concurrency'] !== undefined) {
    settings.concurrency =
      given['concurrency'] === null ? null : integer(given['concurrency'], 'concurrency', 1, MAX_SLOTS);
  }
  const bytes = Number.MAX_SAFE_INTEGER;
  const spans = {
    retentionMs: [1, 100 * MAX_DURATION_MS],
    retentionBytes: [0, bytes],
    logLimit: [1, bytes],
    serverIdleMs: [1, MAX_DURATION_MS],
  } as const;
  for (const [name, [min, max]] of Object.entries(spans) as [keyof typeof spans, [number, number]][]) {
    if (given[name] !== undefined) settings[name] = integer(given[name], name, min, max);
  }
  return settings;
}

/** The name of a checkpoint or sleep. @throws LanewayError INVALID_INPUT */
export function validateStageName(value: unknown): string {
  return sizedText(text(value, 'stage name'), 'stage name', 1, MAX_STAGE_NAME);
}
