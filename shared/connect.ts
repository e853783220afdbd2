/**
 * Reaching the server of a workspace: dial its socket, start it when nobody answers, agree on the
 * protocol, and take over from an older one. Used by the CLI whole, and by the extension for its
 * socket alone ({@link dialOrStart}: its language client does the handshake).
 */
import net from 'node:net';
import fs from 'node:fs';
import type { Connection } from './connection.ts';
import { LanewayError } from './errors.ts';
import { SERVER_START_MS } from './limits.ts';
import { type Env, type StatePaths, statePaths } from './paths.ts';
import { type Hello, type Mismatch, PROTOCOL, type RequestType, type Welcome } from './protocol.ts';
import { ConnectionLost, type Rpc, RpcError, rpcOver } from './rpc.ts';
import { otherSocket } from './serverSocket.ts';
import { type Starting, startError, startServer, writeTrouble } from './startServer.ts';

export interface ConnectOptions {
  /** Real path of the workspace. */
  workspace: string;
  env: Env;
  client: Hello['client'];
  /** This client's version. */
  version: string;
  /** Whether a server may be started. */
  start: 'always' | 'never';
  /** Path of `server.js`. */
  serverBundle: string;
  /** The Node that runs a started server; default this process's own. */
  node?: string;
  /** Told what is waited for when it takes long: one line for a person. */
  onWaiting?: (line: string) => void;
  /** Only for tests of what two versions do with each other. */
  protocol?: number;
}

/** Milliseconds between two tries to dial a server that is starting. */
const DIAL_EVERY_MS = 20;
/** Milliseconds a server may take for its first answer: it is local, and answers before it works. */
const WELCOME_MS = 30_000;

const Initialize: RequestType<object, { capabilities?: { experimental?: { laneway?: Welcome } } }> = {
  method: 'initialize',
};

/**
 * A connection to the workspace's server.
 * @throws LanewayError ENVIRONMENT when there is none and none could be started, VERSION_MISMATCH
 *   when a newer server runs, REFUSED when the socket's folder is not ours.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  return (await establish(options, async () => null)).connection;
}

/** {@link connect} and a first request, which travels in the same write as the greeting. */
export async function connectAndAsk<P, R>(
  options: ConnectOptions,
  type: RequestType<P, R>,
  params: P,
): Promise<{ connection: Connection; result: R }> {
  const { connection, first } = await establish(options, (rpc) => rpc.request(type, params));
  return { connection, result: first };
}

/** An open socket to the workspace's server, which is started when nobody answers. No handshake yet. */
export async function dialOrStart(
  options: Omit<ConnectOptions, 'client' | 'version' | 'protocol'>,
): Promise<net.Socket> {
  const paths = statePaths(options.workspace, options.env);
  return untilServed(options, paths, async (address) => {
    const socket = dial(address);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', (error) => reject(new ConnectionLost(error)));
    });
    return socket;
  });
}

async function establish<T>(
  options: ConnectOptions,
  ask: (rpc: Rpc) => Promise<T>,
): Promise<{ connection: Connection; first: T }> {
  const paths = statePaths(options.workspace, options.env);
  const hello: Hello = {
    protocol: options.protocol ?? PROTOCOL,
    version: options.version,
    client: options.client,
  };
  return untilServed(options, paths, (address) => greet(options, dial(address), hello, ask));
}

/** Greets, and asks in the same breath. The first answer counts only once the greeting was accepted. */
async function greet<T>(
  options: ConnectOptions,
  socket: net.Socket,
  hello: Hello,
  ask: (rpc: Rpc) => Promise<T>,
): Promise<{ connection: Connection; first: T }> {
  const rpc = rpcOver(socket);
  const greeting = rpc.request(Initialize, {
    processId: null,
    rootUri: null,
    capabilities: {},
    initializationOptions: hello,
  });
  const asked = ask(rpc);
  // Whatever becomes of the greeting decides; the first answer's failure must not go unhandled meanwhile.
  asked.catch(() => undefined);
  const timer = setTimeout(() => socket.destroy(notAnswering()), WELCOME_MS);
  let welcome: Welcome | undefined;
  try {
    welcome = (await greeting).capabilities?.experimental?.laneway;
  } catch (error) {
    const mismatch = mismatchOf(error);
    if (mismatch && mismatch.protocol < hello.protocol && options.start === 'always') {
      throw new OlderServer(rpc, mismatch);
    }
    void rpc.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  if (welcome === undefined) {
    void rpc.close();
    throw new LanewayError('ENVIRONMENT', 'What listens on the socket is no Laneway server', 'Run: lane doctor');
  }
  const connection: Connection = { ...rpc, welcome };
  try {
    return { connection, first: await asked };
  } catch (error) {
    await rpc.close();
    // Sent and perhaps done: dialling again might do it twice.
    throw error instanceof ConnectionLost ? new LanewayError(error.code, error.message, error.hint) : error;
  }
}

/**
 * Runs `attempt` until a server was reached: starts one when nobody listens, and waits for an
 * older one to finish. Waiting is counted in tries as well as in time, so that a machine too
 * busy to run us does not look like a server that does not come.
 */
async function untilServed<T>(
  options: Omit<ConnectOptions, 'client' | 'version'>,
  paths: StatePaths,
  attempt: (address: string) => Promise<T>,
): Promise<T> {
  let starting: Starting | null = null;
  let deadline = 0;
  let triesLeft = SERVER_START_MS / DIAL_EVERY_MS;
  let startsLeft = 3;
  let address = paths.socket;
  for (;;) {
    let lost: LanewayError;
    // Read before dialling: a server that took over just before it ended is then still found.
    const ended = starting?.ended() ?? null;
    try {
      checkSocketFolder(paths);
      return await attempt(address);
    } catch (error) {
      if (error instanceof OlderServer) {
        await outlive(error, options.onWaiting);
        starting = null;
        continue;
      }
      if (!(error instanceof ConnectionLost)) throw error;
      lost = error;
    }
    const other = address === paths.socket ? otherSocket(paths) : null;
    address = other ?? paths.socket;
    if (other !== null) continue;
    if (options.start === 'never') throw noServer(paths);
    if (starting === null) {
      starting = await startServer({ ...options, paths });
      deadline = performance.now() + SERVER_START_MS;
      triesLeft = SERVER_START_MS / DIAL_EVERY_MS;
    } else if (ended?.code === 0 && startsLeft > 0) {
      // It made way for a server that was just ending, and that has gone since.
      startsLeft -= 1;
      starting = null;
      continue;
    } else if (ended !== null && ended.code !== 0) {
      throw cannotStart(paths, ended.code === null ? `it was ended by ${ended.signal ?? 'the system'}` : null);
    } else if (triesLeft <= 0 && performance.now() > deadline) {
      throw cannotStart(paths, `nobody answered within ${SERVER_START_MS / 1000} s`, lost);
    }
    triesLeft -= 1;
    await new Promise((resolve) => setTimeout(resolve, DIAL_EVERY_MS));
  }
}

function dial(address: string): net.Socket {
  return net.connect({ path: address });
}

/** Another account's folder could hold a socket that answers in the server's place. */
function checkSocketFolder({ socketFolder }: StatePaths): void {
  const uid = process.getuid?.();
  if (socketFolder === null || uid === undefined) return;
  let found: fs.Stats | undefined;
  try {
    found = fs.lstatSync(socketFolder, { throwIfNoEntry: false });
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new LanewayError(
      'ENVIRONMENT',
      `${socketFolder} cannot be reached (${why})`,
      'Set LANEWAY_RUNTIME to a folder of your own.',
      { cause: error },
    );
  }
  if (found === undefined || (found.isDirectory() && found.uid === uid)) return;
  throw new LanewayError(
    'REFUSED',
    `${socketFolder} is not a folder of yours`,
    'Set LANEWAY_RUNTIME to a folder of your own.',
  );
}

/** An older server that has been asked to finish by our greeting, and closes our socket when it has. */
class OlderServer extends Error {
  readonly rpc: Rpc;
  readonly mismatch: Mismatch;

  constructor(rpc: Rpc, mismatch: Mismatch) {
    super(mismatch.message);
    this.rpc = rpc;
    this.mismatch = mismatch;
  }
}

async function outlive({ rpc, mismatch }: OlderServer, onWaiting?: (line: string) => void): Promise<void> {
  const jobs = mismatch.running === 1 ? '1 running job' : `${mismatch.running} running jobs`;
  onWaiting?.(
    `Waiting for the older server (version ${mismatch.version}) to finish ${jobs}, then starting this version's`,
  );
  await rpc.closed;
}

function mismatchOf(error: unknown): Mismatch | null {
  if (!(error instanceof RpcError) || error.code !== 'VERSION_MISMATCH') return null;
  const data = error.data as Partial<Mismatch> | null;
  return typeof data?.protocol === 'number' ? (data as Mismatch) : null;
}

function noServer(paths: StatePaths): LanewayError {
  return new LanewayError(
    'ENVIRONMENT',
    'No server runs for this workspace',
    `Start one with "lane server start", or add --direct to work without one. Its log: ${paths.serverLog}`,
  );
}

/** The server's own reason when it left one (a newer or damaged database, unsafe ground), else what was seen from here. */
function cannotStart(paths: StatePaths, why: string | null, cause?: Error): LanewayError {
  const said = why === null ? (startError(paths) ?? writeTrouble(paths)) : null;
  const reason = why ?? said?.message ?? 'it ended at once';
  const code = said?.code ?? 'ENVIRONMENT';
  // A queue that is refused is refused without a server too.
  const direct =
    code === 'SCHEMA_NEWER' || code === 'REFUSED' ? '' : ' With --direct the command works without a server.';
  const log = `Its log: ${paths.serverLog}.${direct}`;
  return new LanewayError(code, `The server did not start: ${reason}`, said?.hint ? `${said.hint}. ${log}` : log, {
    cause,
  });
}

function notAnswering(): LanewayError {
  return new LanewayError(
    'ENVIRONMENT',
    `The server does not answer (waited ${WELCOME_MS / 1000} s)`,
    'End it with "lane server stop --force", or see "lane server logs". With --direct the command works without it.',
  );
}
