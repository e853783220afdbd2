/** The deep checks through a server: elsewhere, so that the server goes on; together, and not longer than the server. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { Doctor, ServerStop, StatusRequest, Wait } from '../../shared/protocol.ts';
import { client, type Client } from '../helpers/client.ts';
import { sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

interface Checking {
  mine: Client;
  ended: Promise<number | string>;
  /** Times that a checking process began. */
  begun: () => number;
  goOn: () => void;
}

/** A server whose checking process says that it began, and then waits until it may go on. */
async function checking(t: TestContext): Promise<Checking> {
  const box = sandbox(t);
  const [hook, began, go] = ['hook.cjs', 'began', 'go'].map((name) => path.join(box.root, name)) as [
    string,
    string,
    string,
  ];
  fs.writeFileSync(
    hook,
    `const fs = require('node:fs');
    if (process.argv.includes('--check')) {
      fs.appendFileSync(${JSON.stringify(began)}, 'x');
      const cell = new Int32Array(new SharedArrayBuffer(4));
      while (!fs.existsSync(${JSON.stringify(go)})) Atomics.wait(cell, 0, 0, 10);
    }`,
  );
  const { ended } = await box.startServer({ env: { NODE_OPTIONS: `--require ${hook}` } });
  return {
    mine: await client(box.paths().socket, t),
    ended,
    begun: () => (fs.existsSync(began) ? fs.statSync(began).size : 0),
    goOn: () => fs.writeFileSync(go, ''),
  };
}

test('a server claims and answers while its queue is checked, once for all who ask', async (t) => {
  const { mine, begun, goOn } = await checking(t);
  const asked = [mine.request(Doctor, { deep: true }), mine.request(Doctor, { deep: true })];
  await waitFor(() => begun() > 0, { what: 'the check to begin' });
  const [job] = await mine.add({ argv: ['true'] });
  const { jobs } = await mine.request(Wait, { selection: { ids: [job?.id ?? 0] } });
  assert.equal(jobs[0]?.state, 'done');
  assert.equal((await mine.request(StatusRequest, null)).counts.done, 1);
  goOn();
  for (const { ok, checks } of await Promise.all(asked)) {
    assert.ok(ok, JSON.stringify(checks));
    const ids = new Set(checks.map(({ id }) => id));
    for (const id of ['database', 'event-paths', 'counters', 'logs']) assert.ok(ids.has(id), id);
  }
  assert.equal(begun(), 1);
});

test('a server that ends does not wait for a check, nor leave it behind', async (t) => {
  const { mine, ended, begun } = await checking(t);
  const asked = mine.request(Doctor, { deep: true }).catch(() => null);
  await waitFor(() => begun() > 0, { what: 'the check to begin' });
  await mine.request(ServerStop, { force: false });
  assert.equal(await ended, 0);
  await asked;
});
