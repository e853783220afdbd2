/** Queue one job, or a batch in one transaction. */
import { promises as fs } from 'node:fs';
import { fields } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import type { AddRequest } from '../../shared/job.ts';
import type { Add, Result } from '../../shared/protocol.ts';
import { quoteValue } from '../../shared/text.ts';
import { validateBatch } from '../../shared/validate.ts';
import type { Context } from '../context.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';

export async function add(context: Context, params: unknown): Promise<Result<typeof Add>> {
  const given = fields(params, 'the request', ['jobs', 'caller']);
  const { jobs, caller } = validateBatch(given['jobs'], given['caller'], {
    platform: context.platform,
    now: context.clock.now(),
  });
  const requests = jobs.map((job) => ({ ...job, cwd: job.cwd ?? context.workspace }));
  await checkFolders(requests);
  const { ids, deduplicated } = await context.store.write((tx) => transitions.add(tx, requests, caller));
  return { jobs: context.store.read((reader) => queries.jobs(reader, ids)), deduplicated };
}

/** Each folder a batch names is looked at once. */
async function checkFolders(requests: AddRequest[]): Promise<void> {
  for (const cwd of new Set(requests.map((request) => request.cwd ?? ''))) {
    const problem = await fs.stat(cwd).then(
      (found) => (found.isDirectory() ? null : 'is no folder'),
      (error: NodeJS.ErrnoException) => `cannot be used (${error.code ?? error.message})`,
    );
    if (problem === null) continue;
    const line = requests.length > 1 ? `line ${requests.findIndex((request) => request.cwd === cwd) + 1}: ` : '';
    throw new LanewayError('INVALID_INPUT', `${line}cwd ${quoteValue(cwd)} ${problem}`, 'Name an existing folder.');
  }
}
