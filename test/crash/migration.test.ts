/** SIGKILL while a queue is made and while its schema is changed: afterwards it is of one schema or the other, and whole. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { systemClock as clock } from '../../server/clock.ts';
import { openStore } from '../../server/store/open.ts';
import { LanewayError } from '../../shared/errors.ts';
import { dist, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { crashQueue, PATIENCE, skip } from './support.ts';

const MIGRATOR = path.join(import.meta.dirname, '../programs/migrator.ts');

/** Opens the folder's queue as a build of the next schema would. Resolves with its exit status or signal. */
function migrate(folder: string, points: string): Promise<number | string | null> {
  const child = fork(MIGRATOR, [folder], { env: { PATH: process.env['PATH'] ?? '', LANEWAY_TEST_POINTS: points } });
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
}

describe('migrations under kills', { skip, concurrency: 2 }, () => {
  test('a queue that is being made, by the built server', async (t) => {
    const box = sandbox(t);
    box.forgiveSocket();
    for (const point of ['open:made', 'migrate:before', 'migrate:after']) {
      await assert.rejects(
        box.startServer({ env: { LANEWAY_TEST_POINTS: `${point}=kill` } }),
        /the server ended at once \(SIGKILL\)/,
        point,
      );
    }
    const { job } = await box.json<{ job: { id: number } }>(['--direct', 'add', '--', 'true']);
    assert.equal(job.id, 1);
    assert.equal((await box.json<{ ok: boolean }>(['doctor', '--deep'])).ok, true);
    assert.ok(dist.endsWith('dist'));
  });

  test('a queue of an older schema, with jobs in it', async (t) => {
    const queue = await crashQueue(t);
    const [id = 0] = await queue.add(queue.sh('true'));
    const { folder } = queue.box.paths();
    assert.equal(await migrate(folder, 'migrate:before=kill'), 'SIGKILL');
    // Nothing of it was written: the older build goes on.
    assert.equal((await queue.job(id)).state, 'queued');
    await queue.settle();
    assert.equal(await migrate(folder, 'migrate:after=kill'), 'SIGKILL');
    // All of it was written: the older build refuses, the newer finds everything.
    await assert.rejects(
      openStore({ folder, clock }),
      (error) => error instanceof LanewayError && error.code === 'SCHEMA_NEWER',
    );
    assert.equal(await migrate(folder, ''), 0);
    await waitFor(() => queue.box.processes().length === 0, PATIENCE);
  });
});
