/** Whether somebody listens on a socket, without starting anybody. */
import { statSync } from 'node:fs';
import net from 'node:net';
import type { StatePaths } from '../../shared/paths.ts';
import { otherSocket } from '../../shared/serverSocket.ts';

/** A connected socket to a workspace's server, wherever it listens; null when none does. */
export async function tryDial(paths: StatePaths): Promise<net.Socket | null> {
  const found = await dial(paths.socket);
  const other = found === null ? otherSocket(paths) : null;
  return other === null ? found : dial(other);
}

async function dial(path: string): Promise<net.Socket | null> {
  // Cheaper than a failed dial; Windows' pipes are no files.
  if (process.platform !== 'win32' && !statSync(path, { throwIfNoEntry: false })) return null;
  return await new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => {
      socket.destroy();
      resolve(null);
    });
  });
}
