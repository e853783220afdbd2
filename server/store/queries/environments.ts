/** Captured environments: the names for every job shown, the values only for the one that asks. */
import type { Database } from 'better-sqlite3';
import { LanewayError } from '../../../shared/errors.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

/** Snapshots whose names are remembered per connection: a terminal or two, a few branches of each. */
const REMEMBERED = 64;

/** By content, not by row: a dropped row's id may come back with another content. */
const remembered = new WeakMap<Database, Map<string, readonly string[]>>();

/** Names of each snapshot, ascending, by row id. Parses each content once per connection. */
export function envNames(r: Reader, ids: ReadonlySet<number>): Map<number, readonly string[]> {
  const found = new Map<number, readonly string[]>();
  const digests = statement<{ digest: string }>(r.db, 'SELECT digest FROM environments WHERE id = ?');
  for (const id of ids) {
    const digest = digests.get(id)?.digest;
    if (digest !== undefined) found.set(id, namesOf(r, id, digest));
  }
  return found;
}

function namesOf(r: Reader, id: number, digest: string): readonly string[] {
  let cache = remembered.get(r.db);
  if (cache === undefined) {
    cache = new Map();
    remembered.set(r.db, cache);
  }
  const known = cache.get(digest);
  if (known !== undefined) return known;
  const row = statement<{ content: string }>(r.db, 'SELECT content FROM environments WHERE id = ?').get(id);
  const names = Object.keys(JSON.parse(row?.content ?? '{}') as Record<string, string>).sort();
  if (cache.size >= REMEMBERED) cache.delete(cache.keys().next().value ?? '');
  cache.set(digest, names);
  return names;
}

/**
 * The environment a job will see before Laneway's own variables: captured, then its overrides.
 * @throws LanewayError NOT_FOUND
 */
export function env(r: Reader, jobId: number): Record<string, string> {
  const row = statement<{ content: string; env: string }>(
    r.db,
    'SELECT e.content, j.env FROM jobs j JOIN environments e ON e.id = j.environment_id WHERE j.id = ?',
  ).get(jobId);
  if (row === undefined) throw new LanewayError('NOT_FOUND', `job ${jobId} does not exist`, 'See `lane list`.');
  const captured = JSON.parse(row.content) as Record<string, string>;
  return { ...captured, ...(JSON.parse(row.env) as Record<string, string>) };
}
