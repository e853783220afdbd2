/** Prepared statements, cached per connection: preparing costs more than running most of them. */
import type { Database, Statement } from 'better-sqlite3';

const caches = new WeakMap<Database, Map<string, Statement<unknown[], unknown>>>();

/**
 * The prepared statement of `sql` on this connection, prepared at most once. `Row` is what its
 * rows are: the caller's word for it, since SQL text carries no types. Callers pass constant
 * texts (values are bound, never spliced in), so the cache stays as small as the code.
 */
export function statement<Row = unknown>(db: Database, sql: string): Statement<unknown[], Row> {
  let cache = caches.get(db);
  if (cache === undefined) {
    cache = new Map();
    caches.set(db, cache);
  }
  let prepared = cache.get(sql);
  if (prepared === undefined) {
    prepared = db.prepare<unknown[], unknown>(sql);
    cache.set(sql, prepared);
  }
  return prepared as Statement<unknown[], Row>;
}
