/** Whether somebody listens on a socket, without starting anybody. */
import { statSync } from 'node:fs';
import net from 'node:net';

/** A connected socket, or null when nobody listens. */
export async function tryDial(path: string): Promise<net.Socket | null> {
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
