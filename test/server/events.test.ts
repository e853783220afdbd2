/** Hints say that the ledger has moved, pulls say how; neither misses what other processes do, nor costs when idle. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../server/clock.ts';
import { openDirect } from '../../server/direct.ts';
import type { Connection } from '../../shared/connection.ts';
import * as P from '../../shared/protocol.ts';
import { client, type Client } from '../helpers/client.ts';
import { type Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const direct = (box: Sandbox): Promise<Connection> =>
  openDirect({ workspace: box.workspace, env: box.env, clock: systemClock, warn: () => undefined, execute: false });

describe('hints', () => {
  it('and pulls from a cursor miss no event and repeat none, for several clients at once', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const { socket } = box.paths();
    const readers = await Promise.all([client(socket, t), client(socket, t), client(socket, t)]);
    const seen = await Promise.all(readers.map((reader) => collect(reader)));
    const writer = await client(socket, t);
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => writer.add({ argv: ['true'], lane: `l${i % 4}`, label: `${i}` })),
    );
    await writer.request(P.Wait, { selection: { all: true } });
    const all = await everything(writer);
    assert.ok(all.length >= 180);
    for (const ids of seen) {
      await waitFor(() => ids.length === all.length, { what: 'every event to be pulled' });
      assert.deepEqual(ids, all);
    }
    await readers[0]?.receives(P.EventsHint, ({ counts }) => counts.done === 60);
    assert.ok((readers[0]?.received(P.EventsHint).length ?? 0) < all.length, 'hints are coalesced');
  });

  it('tell of what another process committed, and of pokes', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket, t);
    const { cursor } = await mine.request(P.Subscribe, null);
    const waiting = mine.request(P.Events, { since: cursor, waitMs: 60_000 });
    const other = await direct(box);
    box.defer(() => other.close());
    const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o022 };
    const { jobs } = await other.request(P.Add, { jobs: [{ argv: ['true'] }], caller });
    assert.ok((await waiting).events.some(({ jobId }) => jobId === jobs[0]?.id));
    // The server's worker runs what it was not told of.
    await mine.receives(P.EventsHint, ({ counts }) => counts.done === 1);
    mine.notify(P.Poke, null);
    assert.equal((await mine.request(P.ServerStatus, null)).running, true);
  });

  it('are not sent to those who did not ask, or ask no more (microsoft/vscode-docker#959)', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const { socket } = box.paths();
    const hidden = await client(socket, t);
    const shown = await client(socket, t);
    await hidden.request(P.Subscribe, null);
    await hidden.request(P.Unsubscribe, null);
    await shown.request(P.Subscribe, null);
    await shown.add({ argv: ['true'] }, { argv: ['true'] });
    await shown.receives(P.EventsHint, ({ counts }) => counts.done === 2);
    assert.deepEqual(hidden.notifications, []);
  });
});

describe('following a log', () => {
  it('tells of growth and of the end, and is over then', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const mine = await client(box.paths().socket, t);
    const gate = path.join(box.root, 'gate');
    const [job] = await mine.add({
      argv: ['sh', '-c', `echo one; until [ -e ${gate} ]; do sleep 0.02; done; echo two`],
    });
    const id = job?.id ?? 0;
    await waitFor(async () => (await mine.request(P.Output, { job: id })).text === 'one\n');
    const started = await mine.request(P.Follow, { job: id });
    assert.deepEqual([started.attempt, started.size, started.ended], [1, 4, false]);
    fs.writeFileSync(gate, '');
    const last = await mine.receives(P.LogGrew, ({ ended }) => ended);
    assert.deepEqual(last, { jobId: id, attempt: 1, size: 8, ended: true });
    const page = await mine.request(P.Output, { job: id, offset: 4 });
    assert.deepEqual([page.text, page.complete], ['two\n', true]);
    assert.equal((await mine.request(P.Follow, { job: id })).ended, true, 'an ended one is told at once');
    assert.equal(await mine.request(P.FollowStop, { jobId: id, attempt: 1 }), null);
  });
});

describe('adding at once', () => {
  it('two windows and twenty clients add 1,000 jobs: all there, none twice (microsoft/vscode#324612)', async (t) => {
    const box = sandbox(t);
    await box.startServer();
    const { socket } = box.paths();
    const windows = await Promise.all([client(socket, t), client(socket, t)]);
    await windows[0]?.add({ argv: ['true'], lane: 'still', afterMs: 3_600_000, label: 'first' });
    await windows[0]?.request(P.Pause, { lanes: ['still'] });
    const others = await Promise.all(Array.from({ length: 3 }, () => direct(box)));
    box.defer(() => Promise.all(others.map((other) => other.close())));
    const clients = await Promise.all(Array.from({ length: 17 }, () => client(socket, t)));
    const caller = { env: {}, umask: 0o022 };
    const labels: string[] = [];
    const adders: Pick<Connection, 'request'>[] = [...windows, ...clients, ...others].map((each) => ({
      request: (type, params) => each.request(type, params),
    }));
    await Promise.all(
      adders.flatMap((adder, a) =>
        Array.from({ length: 46 }, (_, i) => {
          const label = `${a}-${i}`;
          labels.push(label);
          return adder.request(P.Add, { jobs: [{ argv: ['true'], lane: 'still', label }], caller });
        }),
      ),
    );
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const page: P.Result<typeof P.List> = await (windows[1] as Client).request(P.List, {
        lane: 'still',
        limit: 1000,
        cursor,
      });
      found.push(...page.jobs.map(({ label }) => label ?? ''));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(found.toSorted(), [...labels, 'first'].toSorted());
  });
});

describe('an idle server', () => {
  it(
    'costs next to nothing beside 5,000 jobs in a paused lane (leahneukirchen/nq#37)',
    {
      skip: process.platform !== 'linux' && 'reads /proc',
    },
    async (t) => {
      const box = sandbox(t);
      const { pid } = await box.startServer();
      const mine = await client(box.paths().socket, t);
      await mine.request(P.LanesSet, { name: 'paused', settings: {} });
      await mine.request(P.Pause, { lanes: ['paused'] });
      await mine.add(...Array.from({ length: 5000 }, () => ({ argv: ['true'], lane: 'paused' })));
      await mine.request(P.Subscribe, null);
      // Until what adding left to do is done.
      await waitFor(async () => {
        const before = cpuMs(pid);
        await pause(200);
        return cpuMs(pid) - before <= 10;
      });
      const before = cpuMs(pid);
      await pause(2000);
      const used = cpuMs(pid) - before;
      assert.ok(used <= 100, `${used} ms of processor time in 2 s`);
      assert.deepEqual(
        mine.received(P.EventsHint).filter(({ counts }) => counts.queued !== 5000),
        [],
      );
    },
  );
});

/** Subscribes, and from then on pulls with every hint; returns the growing list of event ids. */
async function collect(reader: Client): Promise<number[]> {
  const ids: number[] = [];
  let { cursor } = await reader.request(P.Subscribe, null);
  const first = await reader.request(P.Events, { since: 0, limit: 10_000 });
  ids.push(...first.events.map(({ id }) => id));
  cursor = Math.max(cursor, first.cursor);
  let told = 0;
  let pulling = false;
  const pull = async (): Promise<void> => {
    if (pulling) return;
    pulling = true;
    while (told > cursor) {
      const page = await reader.request(P.Events, { since: cursor, limit: 7 });
      ids.push(...page.events.map(({ id }) => id));
      cursor = page.cursor;
    }
    pulling = false;
  };
  reader.socket.on('data', () => {
    told = Math.max(told, reader.received(P.EventsHint).at(-1)?.cursor ?? 0);
    void pull().catch(() => undefined);
  });
  return ids;
}

async function everything(reader: Client): Promise<number[]> {
  const ids: number[] = [];
  for (let since = 0; ;) {
    const page = await reader.request(P.Events, { since });
    if (page.events.length === 0) return ids;
    ids.push(...page.events.map(({ id }) => id));
    since = page.cursor;
  }
}

/** Processor time a process has used, in milliseconds (a tick of /proc is 10 ms). */
function cpuMs(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
