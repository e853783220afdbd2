/**
 * Prerequisites of one job end at the same instant in several real processes, the server and three `lane work`: the job
 * is released once and runs once, or is settled once, whoever wrote the last of them.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { test } from 'node:test';
import * as P from '../../shared/protocol.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { crashQueue, PATIENCE, skip } from './support.ts';

const ROUNDS = 12;
const PREREQUISITES = 8;

test('needs that end at once in four processes release their dependents exactly once', { skip }, async (t) => {
  const queue = await crashQueue(t);
  // Two each: only together have they room for all eight, so every one of them ends two.
  await queue.own.request(P.SettingsSet, { settings: { concurrency: 2 } });
  await queue.own.request(P.LanesSet, { name: 'default', settings: { slots: PREREQUISITES } });
  const workers = Array.from({ length: 3 }, () => queue.lane(['work', '--concurrency', '2']));
  const server = queue.server();
  const attemptsBy = new Set<string>();

  for (let round = 0; round < ROUNDS; round++) {
    // Opening a pipe waits for its writer: whoever waits there goes on at the same instant.
    const gate = queue.file(`gate-${round}`);
    execFileSync('mkfifo', [gate]);
    const hasFailure = round % 3 === 2;
    const bodies = Array.from({ length: PREREQUISITES }, (_, nth) => `exit ${hasFailure && nth === 0 ? 1 : 0}`);
    const needs = bodies.map((_, nth) => ({ line: nth + 1 }));
    const ids = await queue.add(
      ...bodies.map((body) => queue.sh(`: <"${gate}"\n${body}`)),
      queue.sh('exit 0', { needs }),
      queue.sh('exit 0', { needs, onNeedFailure: 'release' }),
    );
    const prerequisites = ids.slice(0, PREREQUISITES);
    const [strict = 0, lenient = 0] = ids.slice(PREREQUISITES);
    await Promise.all(prerequisites.map((id) => queue.runs(id)));
    const writer = fs.openSync(gate, 'r+');
    await Promise.all([
      queue.reaches(strict, hasFailure ? 'canceled' : 'done'),
      queue.reaches(lenient, 'done'),
      ...prerequisites.map((id) => queue.reaches(id, 'done', 'dead')),
    ]);
    fs.closeSync(writer);
    const life = async (id: number) => (await queue.events(id)).map(({ type }) => type);
    const once = ['added', 'released', 'claimed', 'succeeded'];
    assert.deepEqual(await life(strict), hasFailure ? ['added', 'canceled'] : once, `round ${round}`);
    assert.deepEqual(await life(lenient), once, `round ${round}`);
    const ran = queue.lines('ran').filter((line) => line.startsWith(`${lenient}.`));
    assert.deepEqual(ran, [`${lenient}.1`]);
    for (const id of prerequisites) for (const { workerId } of await queue.attempts(id)) attemptsBy.add(workerId);
  }

  assert.equal(attemptsBy.size, 4, 'every process took part');
  for (const worker of workers) await queue.ends(worker);
  await waitFor(() => queue.box.serverPid() === server.pid, PATIENCE);
  await queue.ends(server);
  await queue.settle();
});
