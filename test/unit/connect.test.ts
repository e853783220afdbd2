/** Reaching a server: what happens when there is none, an older one, a newer one, or something else. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect, connectAndAsk, type ConnectOptions } from '../../shared/connect.ts';
import { LanewayError } from '../../shared/errors.ts';
import { encodeFrame, frameDecoder } from '../../shared/framing.ts';
import { statePaths } from '../../shared/paths.ts';
import { type Mismatch, ServerStatus } from '../../shared/protocol.ts';
import { waitFor } from '../helpers/waitFor.ts';

interface Message {
  id: number;
  method: string;
  params: { initializationOptions?: { protocol: number } };
}

/** A folder for state and sockets, and the options that lead there. */
function world(t: TestContext, more: Partial<ConnectOptions> = {}): { options: ConnectOptions; socket: string } {
  const root = fs.realpathSync.native(fs.mkdtempSync(path.join(os.tmpdir(), 'lw-connect-')));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  const env = { LANEWAY_HOME: path.join(root, 'state'), LANEWAY_RUNTIME: root, HOME: root };
  const workspace = path.join(root, 'project');
  fs.mkdirSync(workspace);
  const { socket, socketFolder } = statePaths(workspace, env);
  fs.mkdirSync(socketFolder ?? root, { recursive: true, mode: 0o700 });
  const options: ConnectOptions = {
    workspace,
    env,
    client: 'test',
    version: '9.9.9',
    start: 'never',
    serverBundle: path.join(root, 'no-server.js'),
    ...more,
  };
  return { options, socket };
}

/** A server that answers as told. */
async function serve(
  t: TestContext,
  socket: string,
  answer: (message: Message, peer: net.Socket) => object | null,
): Promise<net.Server> {
  const server = net.createServer((peer) => {
    const decoder = frameDecoder();
    peer.on('error', () => undefined);
    peer.on('data', (chunk) => {
      for (const message of decoder.push(chunk) as Message[]) {
        const reply = answer(message, peer);
        if (reply !== null) peer.write(encodeFrame({ jsonrpc: '2.0', id: message.id, ...reply }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return server;
}
const WELCOME = { protocol: 1, version: '1.0.0', instance: 'i', cursor: 0, server: {} };
const accept = { result: { capabilities: { experimental: { laneway: WELCOME } } } };
const mismatch = (protocol: number, running: number): object => {
  const data: Mismatch = {
    code: 'VERSION_MISMATCH',
    message: `speaks ${protocol}`,
    hint: 'install',
    protocol,
    version: '0.1.0',
    running,
  };
  return { error: { code: -32_050, message: data.message, data } };
};
const fails = (code: string, message: RegExp) => (error: unknown) =>
  error instanceof LanewayError && error.code === code && message.test(`${error.message} ${error.hint}`);

test('the greeting and the first request leave in one write', async (t) => {
  const { options, socket } = world(t);
  const seen: string[] = [];
  const server = await serve(t, socket, ({ method }) => {
    seen.push(method);
    return method === 'initialize' ? accept : { result: { pid: 5 } };
  });
  const chunks: number[] = [];
  server.on('connection', (peer) => peer.on('data', (chunk) => chunks.push(chunk.length)));
  const { connection, result } = await connectAndAsk(options, ServerStatus, null);
  assert.deepEqual([seen, result, connection.welcome], [['initialize', 'laneway/server'], { pid: 5 }, WELCOME]);
  assert.equal(chunks.length, 1);
  await connection.close();
});

test('no server, and none to be started', async (t) => {
  const { options } = world(t);
  await assert.rejects(connect(options), fails('ENVIRONMENT', /No server runs .*--direct.*server\.log/));
  await assert.rejects(connect({ ...options, start: 'always' }), fails('ENVIRONMENT', /no-server\.js/));
});

test('a server that ends at once gives its own reason, code and hint', async (t) => {
  const { options } = world(t, { start: 'always' });
  const { folder } = statePaths(options.workspace, options.env);
  for (const [code, hint] of [
    ['CORRUPT', /run lane doctor.*server\.log.*--direct/],
    ['SCHEMA_NEWER', /run lane doctor.*server\.log\.$/],
  ] as const) {
    const why = JSON.stringify({ code, message: 'the database is damaged', hint: 'run lane doctor' });
    fs.writeFileSync(
      options.serverBundle,
      `require('fs').writeFileSync(${JSON.stringify(path.join(folder, 'start-error.json'))}, ${JSON.stringify(why)}); process.exit(3);`,
    );
    await assert.rejects(connect(options), fails(code, new RegExp(`damaged.*${hint.source}`)));
  }
});

test('what listens but is no server of ours', async (t) => {
  const { options, socket } = world(t);
  await serve(t, socket, () => ({ result: {} }));
  await assert.rejects(connect(options), fails('ENVIRONMENT', /no Laneway server/));
});

test('a newer server is refused with the version to install, and the request is not carried out twice', async (t) => {
  const { options, socket } = world(t, { start: 'always', protocol: 1 });
  let greeted = 0;
  await serve(t, socket, ({ method }) => {
    if (method === 'initialize') greeted += 1;
    return mismatch(2, 0);
  });
  await assert.rejects(connectAndAsk(options, ServerStatus, null), fails('VERSION_MISMATCH', /install/));
  assert.equal(greeted, 1);
});

test('an older server is waited for, in words, and then replaced', async (t) => {
  const lines: string[] = [];
  const { options, socket } = world(t, { start: 'always', protocol: 2, onWaiting: (line) => lines.push(line) });
  let older: net.Socket | undefined;
  const server = await serve(t, socket, (_message, peer) => {
    older = peer;
    return mismatch(1, 2);
  });
  // The server that is started in its place: it greets its one client and ends with it.
  const reply = encodeFrame({ jsonrpc: '2.0', id: 1, ...accept });
  fs.writeFileSync(
    options.serverBundle,
    `require('net').createServer((peer) => {
      peer.once('data', () => peer.write(${JSON.stringify(reply)}));
      peer.on('close', () => process.exit(0));
    }).listen(${JSON.stringify(socket)});`,
  );
  const connecting = connect(options);
  await waitFor(() => lines.length > 0, { what: 'the client to say what it waits for' });
  assert.match(lines[0] ?? '', /older server.*0\.1\.0.*2 running jobs/);
  server.close();
  older?.destroy();
  const connection = await connecting;
  assert.deepEqual(connection.welcome, WELCOME);
  await connection.close();
});

test('a lost connection fails what was asked, and says that it may have been done', async (t) => {
  const { options, socket } = world(t);
  await serve(t, socket, ({ method }, peer) => {
    if (method === 'initialize') return accept;
    peer.destroy();
    return null;
  });
  await assert.rejects(connectAndAsk(options, ServerStatus, null), fails('ENVIRONMENT', /lost.*may or may not/));
  const connection = await connect(options);
  await assert.rejects(connection.request(ServerStatus, null), fails('ENVIRONMENT', /lost/));
  await connection.closed;
  await assert.rejects(connection.request(ServerStatus, null), fails('ENVIRONMENT', /lost/));
});

test('a folder of sockets that is not ours is refused', async (t) => {
  const { options, socket } = world(t);
  if (process.getuid?.() !== 0) {
    t.skip('only root can make a folder of another account');
    return;
  }
  fs.chownSync(path.dirname(socket), 12_345, 12_345);
  await assert.rejects(connect(options), fails('REFUSED', /not a folder of yours/));
});
