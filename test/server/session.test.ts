/** One client's conversation: greeting, hostile bytes, slow and vanishing clients, and who may speak at all. */
import assert from 'node:assert/strict';
import net from 'node:net';
import { after, before, describe, it } from 'node:test';
import { encodeFrame } from '../../shared/framing.ts';
import {
  Add,
  Events,
  EventsHint,
  Finishing,
  Lanes,
  List,
  Output,
  Pause,
  PROTOCOL,
  ServerStatus,
  Show,
  StatusRequest,
  Subscribe,
  Wait,
} from '../../shared/protocol.ts';
import { Client, client, type Refusal } from '../helpers/client.ts';
import { isAlive } from '../helpers/processes.ts';
import { type RunningServer, Sandbox, sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

const QUICK = { argv: ['true'] };

describe('a session', () => {
  let box: Sandbox;
  let server: RunningServer;
  let socket: string;
  before(async () => {
    box = new Sandbox();
    server = await box.startServer();
    socket = box.paths().socket;
  });
  after(() => box.dispose());

  it('begins with a greeting that tells who answers', async (t) => {
    const mine = new Client(socket);
    t.after(() => mine.close());
    const welcome = await mine.hello();
    assert.equal(welcome.protocol, PROTOCOL);
    assert.equal(welcome.server.pid, server.pid);
    assert.equal(welcome.server.workspace, box.workspace);
    assert.equal(welcome.server.clients !== null, true);
    assert.equal(typeof welcome.cursor, 'number');
    assert.match(welcome.instance, /^[0-9a-f-]{36}$/);
  });

  it('answers requests that travel with the greeting', async (t) => {
    const mine = new Client(socket);
    t.after(() => mine.close());
    const [welcome, lanes] = await Promise.all([mine.hello(), mine.request(Lanes, null)]);
    assert.equal(welcome.protocol, PROTOCOL);
    assert.ok(Array.isArray(lanes.lanes));
  });

  it('carries out nothing before the greeting, nor for a client of an older protocol', async (t) => {
    const rude = new Client(socket);
    const old = new Client(socket);
    t.after(() => Promise.all([rude.close(), old.close()]).then(() => undefined));
    await assert.rejects(rude.request(Lanes, null), (error: Refusal) => error.code === 'INVALID_INPUT');

    const greeting = old.hello(PROTOCOL - 1, '0.0.1');
    const adding = old.request(Add, { jobs: [{ ...QUICK, label: 'never' }], caller: { env: {}, umask: 0 } });
    adding.catch(() => undefined);
    await assert.rejects(greeting, (error: Refusal) => {
      assert.equal(error.code, 'VERSION_MISMATCH');
      assert.equal(error.data['protocol'], PROTOCOL);
      assert.match(error.message, /client 0\.0\.1 speaks protocol 0, server .* speaks protocol 1/);
      assert.match(String(error.data['hint']), /install Laneway .* or newer/);
      return true;
    });
    await assert.rejects(adding, (error: Refusal) => error.code === 'VERSION_MISMATCH');
    const other = await client(socket, t);
    const { jobs } = await other.request(List, { text: 'never' });
    assert.deepEqual(jobs, []);
    assert.ok(isAlive(server.pid), 'an older client ends nothing');
  });

  const garbage: [what: string, bytes: string | Buffer][] = [
    ['no frame at all', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['headers without an end', `X: ${'a'.repeat(100_000)}`],
    ['a length that is no number', 'Content-Length: many\r\n\r\n{}'],
    ['a length beyond all bounds', 'Content-Length: 99999999999\r\n\r\n{}'],
    ['a negative length', 'Content-Length: -5\r\n\r\n{}'],
    ['a body that is no JSON', 'Content-Length: 3\r\n\r\n{a}'],
    ['a body that is no message', 'Content-Length: 4\r\n\r\nnull'],
    ['a batch', 'Content-Length: 2\r\n\r\n[]'],
    ['a method that is no text', encodeFrame({ jsonrpc: '2.0', id: 1, method: {} })],
    ['a cancellation of nothing', encodeFrame({ jsonrpc: '2.0', method: '$/cancelRequest', params: null })],
    ['random bytes', Buffer.from(Array.from({ length: 9000 }, (_, i) => (i * 7919) % 256))],
  ];
  for (const [what, bytes] of garbage) {
    it(`is closed by ${what}, alone`, async (t) => {
      const bystander = await client(socket, t);
      const hostile = net.connect({ path: socket });
      hostile.on('error', () => undefined);
      const closed = new Promise((resolve) => hostile.once('close', resolve));
      hostile.write(bytes);
      await closed;
      assert.equal((await bystander.request(ServerStatus, null)).pid, server.pid);
    });
  }

  it('survives strange but well-formed messages', async (t) => {
    const mine = await client(socket, t);
    mine.send({ id: 900, result: 'to a question nobody asked' });
    mine.send({ method: 'laneway/unheard-of', params: [] });
    await assert.rejects(mine.call('laneway/unheard-of', { a: 1 }), (error: Refusal) => error.code === 'INVALID_INPUT');
    for (const params of [[1, 2, 3], 'text', 7, null, { __proto__: null, extra: 1 }]) {
      await assert.rejects(mine.call('laneway/show', params), (error: Refusal) => error.code === 'INVALID_INPUT');
    }
    for (const more of [{}, { capabilities: null }, null, [7]]) {
      const again = (await mine.call('initialize', more)) as {
        capabilities: { experimental: { laneway: { protocol: number } } };
      };
      assert.equal(again.capabilities.experimental.laneway.protocol, PROTOCOL, 'a second greeting is the first');
    }
    assert.equal((await mine.request(ServerStatus, null)).pid, server.pid);
  });

  it('ends alone: by exit, by shutdown and exit, by vanishing in the middle of everything', async (t) => {
    const bystander = await client(socket, t);
    const polite = await client(socket);
    await polite.call('shutdown', undefined);
    polite.send({ method: 'exit' });
    await polite.closed;
    const curt = await client(socket);
    curt.send({ method: 'exit' });
    await curt.closed;

    for (let i = 0; i < 10; i++) {
      const hasty = await client(socket);
      void hasty.add({ argv: ['true'], label: 'hasty' }).catch(() => undefined);
      void hasty.request(Wait, { selection: { all: true } }).catch(() => undefined);
      void hasty.request(Events, { since: 0, waitMs: 60_000 }).catch(() => undefined);
      // Half a frame, then gone.
      hasty.socket.write('Content-Length: 100\r\n\r\n{"jsonrpc"');
      hasty.socket.destroy();
    }
    await waitFor(async () => (await bystander.request(ServerStatus, null)).clients === 1, { what: 'one client left' });
  });

  it('cancels a waiting request when the client asks for it', async (t) => {
    const mine = await client(socket, t);
    const { cursor } = await mine.request(Events, { since: 0 });
    const waiting = mine.call('laneway/events', { since: cursor + 1_000_000, waitMs: 3_600_000 });
    mine.send({ method: '$/cancelRequest', params: { id: 3 } });
    await assert.rejects(waiting, (error: Refusal) => error.code === 'ENVIRONMENT');
  });

  it('is not read from while its client does not read', async (t) => {
    const mine = await client(socket, t);
    const [job] = await mine.add({ argv: ['sh', '-c', 'yes | head -c 3000000'] });
    assert.ok(job);
    await mine.request(Wait, { selection: { ids: [job.id] } });

    const lazy = await client(socket);
    await lazy.request(Subscribe, null);
    lazy.socket.pause();
    const page = { job: job.id, raw: true };
    const pages = Array.from({ length: 40 }, () => lazy.request(Output, page));
    // The server goes on for others meanwhile, and holds no more than a few pages for this one.
    assert.equal((await mine.request(ServerStatus, null)).pid, server.pid);
    assert.ok((await residentMiB(server.pid)) < 400, 'memory stays bounded');
    const [later] = await mine.add({ argv: ['true'], label: 'while nobody read' });
    await mine.request(Wait, { selection: { ids: [later?.id ?? 0] } });
    const { counts } = await mine.request(StatusRequest, null);
    lazy.socket.resume();
    const answers = await Promise.all(pages);
    assert.ok(answers.every(({ bytes }) => bytes === 1_048_576));
    await lazy.receives(EventsHint, (hint) => hint.counts.done === counts.done);
    await lazy.close();
  });

  it('takes a batch of ten thousand jobs in one message', async (t) => {
    const mine = await client(socket, t);
    await mine.add({ argv: ['true'], lane: 'batch' });
    await mine.request(Pause, { lanes: ['batch'] });
    const jobs = await mine.add(...Array.from({ length: 10_000 }, () => ({ argv: ['true'], lane: 'batch' })));
    assert.equal(jobs.length, 10_000);
    const { counts } = await mine.request(StatusRequest, null);
    assert.ok(counts.queued >= 10_000);
    await assert.rejects(
      mine.add(...Array.from({ length: 10_001 }, () => QUICK)),
      (error: Refusal) => error.code === 'INVALID_INPUT' && /10001.*10000/.test(error.message.replaceAll(',', '')),
    );
  });
});

describe('hand-over', () => {
  it('a newer client makes an older server finish: no new claims, running jobs end first', async (t) => {
    const box = sandbox(t);
    const server = await box.startServer();
    const { socket } = box.paths();
    const mine = await client(socket, t);
    const gate = `${box.root}/gate`;
    const [running] = await mine.add({ argv: ['sh', '-c', `until [ -e ${gate} ]; do sleep 0.02; done`] });
    const [waiting] = await mine.add({ argv: ['true'] });
    assert.ok(running && waiting);
    await waitFor(async () => (await mine.request(Show, { job: running.id })).job.state === 'running');

    const newer = new Client(socket);
    await assert.rejects(newer.hello(PROTOCOL + 1, '9.9.9'), (error: Refusal) => {
      assert.equal(error.code, 'VERSION_MISMATCH');
      assert.equal(error.data['running'], 1);
      return true;
    });
    const { running: left } = await mine.receives(Finishing);
    assert.equal(left, 1);
    assert.equal(newer.socket.destroyed, false, 'the newer client waits on its socket');

    const { writeFileSync } = await import('node:fs');
    writeFileSync(gate, '');
    assert.equal(await server.ended, 0);
    await newer.closed;
    const again = await box.startServer();
    const next = await client(socket, t);
    await next.request(Wait, { selection: { ids: [running.id, waiting.id] } });
    const first = await next.request(Show, { job: running.id });
    const second = await next.request(Show, { job: waiting.id });
    const owners = [first, second].map(({ attempts }) => attempts.map(({ workerId }) => workerId.split('-')[1]));
    assert.deepEqual(owners, [[`${server.pid}`], [`${again.pid}`]]);
    assert.deepEqual([first.job.state, second.job.state], ['done', 'done']);
  });
});

async function residentMiB(pid: number): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const { readFileSync } = await import('node:fs');
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}
