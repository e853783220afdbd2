/** Settings of the queue as a whole, kept in the database so that every client sees the same. */
import type { QueueSettings } from '../../../shared/job.ts';
import type { Tx } from '../api.ts';
import { SETTING_PREFIX } from '../queries/settings.ts';
import { statement } from '../statements.ts';

/** Set what is given; the rest stays. */
export function setSettings(tx: Tx, settings: Partial<QueueSettings>): void {
  for (const [name, value] of Object.entries(settings)) {
    if (value === undefined) continue;
    statement(
      tx.db,
      'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    ).run(SETTING_PREFIX + name, JSON.stringify(value));
  }
}
