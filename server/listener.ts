/**
 * The Unix socket or named pipe on which clients find the server. Only the holder of the instance lock
 * listens, so a socket that lies there already is a dead server's and may be removed.
 */
import fs from 'node:fs';
import net from 'node:net';
import { LanewayError } from '../shared/errors.ts';
import { prepareSocketFolder } from '../shared/ground.ts';
import type { StatePaths } from '../shared/paths.ts';

export interface Listener {
  /** Listens anew when something deleted or replaced the socket; true when it did. Cheap. */
  check(): Promise<boolean>;
  /** Accept no more; the socket is gone when this returns. Idempotent. */
  close(): void;
  /** Listen again after `close`. */
  reopen(): Promise<void>;
}

/** @throws REFUSED when the socket's folder is not ours; ENVIRONMENT when it cannot be listened on. */
export async function listen(
  paths: StatePaths,
  onSocket: (socket: net.Socket) => void,
  onError: (error: Error) => void,
): Promise<Listener> {
  let server = await open(paths, onSocket, onError);
  let identity = identityOf(paths);
  let closed = false;
  return {
    async check() {
      if (closed || identityOf(paths) === identity) return false;
      // Closing removes whatever lies at the path, so it has to come first.
      server.close();
      server = await open(paths, onSocket, onError);
      identity = identityOf(paths);
      if (closed) server.close();
      return true;
    },
    close() {
      closed = true;
      server.close();
    },
    async reopen() {
      if (!closed) return;
      closed = false;
      server = await open(paths, onSocket, onError);
      identity = identityOf(paths);
    },
  };
}

async function open(
  paths: StatePaths,
  onSocket: (socket: net.Socket) => void,
  onError: (error: Error) => void,
): Promise<net.Server> {
  prepareSocketFolder(paths);
  const server = net.createServer({ allowHalfOpen: false }, onSocket);
  if (paths.socketFolder !== null) fs.rmSync(paths.socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(paths.socket, () => {
      server.off('error', reject);
      resolve();
    });
  }).catch((error: NodeJS.ErrnoException) => {
    throw new LanewayError(
      'ENVIRONMENT',
      `the socket ${paths.socket} cannot be listened on (${error.code ?? error.message})`,
      'Set LANEWAY_RUNTIME to a folder on a local disk',
      { cause: error },
    );
  });
  // Such as too many open files while accepting: the next client may have more luck.
  server.on('error', onError);
  if (paths.socketFolder !== null) fs.chmodSync(paths.socket, 0o600);
  return server;
}

function identityOf(paths: StatePaths): string | null {
  if (paths.socketFolder === null) return null;
  const found = fs.lstatSync(paths.socket, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
