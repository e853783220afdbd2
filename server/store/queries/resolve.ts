/** What a reference names: an id, `last`, or `label:NAME`. */
import { LanewayError } from '../../../shared/errors.ts';
import type { JobRef } from '../../../shared/protocol.ts';
import { quoteValue } from '../../../shared/text.ts';
import { validateRef } from '../../../shared/validateQuery.ts';
import type { Reader } from '../api.ts';
import { statement } from '../statements.ts';

/**
 * The id of the job that `ref` names.
 * @throws LanewayError NOT_FOUND, or INVALID_INPUT for something that is no reference
 */
export function resolve(r: Reader, ref: JobRef): number {
  const valid = validateRef(ref);
  if (typeof valid === 'number') return existing(r, valid);
  if (valid === 'last') {
    const newest = statement<{ id: number }>(r.db, 'SELECT id FROM jobs ORDER BY id DESC LIMIT 1').get();
    if (newest !== undefined) return newest.id;
    throw new LanewayError('NOT_FOUND', 'there is no job yet, so none is the last', 'Queue one: lane add -- COMMAND');
  }
  const label = valid.slice('label:'.length);
  const sql = 'SELECT id FROM jobs WHERE label = ? ORDER BY id DESC LIMIT 1';
  const newest = statement<{ id: number }>(r.db, sql).get(label);
  if (newest !== undefined) return newest.id;
  throw new LanewayError('NOT_FOUND', `no job has the label ${quoteValue(label)}`, 'See the labels in: lane list');
}

function existing(r: Reader, id: number): number {
  if (statement(r.db, 'SELECT 1 FROM jobs WHERE id = ?').get(id) !== undefined) return id;
  const last = statement<{ seq: number }>(r.db, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'").get()?.seq ?? 0;
  throw id <= last
    ? new LanewayError('NOT_FOUND', `job ${id} is gone: it was pruned`, 'How long jobs are kept: docs/retention.md')
    : new LanewayError('NOT_FOUND', `job ${id} does not exist`, 'See the jobs there are: lane list');
}
