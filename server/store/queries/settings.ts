/** Settings of the queue, kept in `meta` as JSON under `setting.NAME`; absent ones have their defaults. */
import {
  DEFAULT_LOG_LIMIT,
  DEFAULT_RETENTION_BYTES,
  DEFAULT_RETENTION_MS,
  DEFAULT_SERVER_IDLE_MS,
} from '../../../shared/limits.ts';
import type { QueueSettings } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

export const SETTING_PREFIX = 'setting.';

const DEFAULTS: Readonly<QueueSettings> = {
  concurrency: null,
  retentionMs: DEFAULT_RETENTION_MS,
  retentionBytes: DEFAULT_RETENTION_BYTES,
  logLimit: DEFAULT_LOG_LIMIT,
  serverIdleMs: DEFAULT_SERVER_IDLE_MS,
};

export function settings(r: Reader): QueueSettings {
  const stored: Record<string, unknown> = {};
  const value = statement<{ value: string }>(r.db, 'SELECT value FROM meta WHERE key = ?');
  for (const name of Object.keys(DEFAULTS)) {
    const row = value.get(SETTING_PREFIX + name);
    if (row !== undefined) stored[name] = JSON.parse(row.value) as unknown;
  }
  return { ...DEFAULTS, ...(stored as Partial<QueueSettings>) };
}
