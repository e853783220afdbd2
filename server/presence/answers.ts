/** Whether somebody listens on a socket. */
import net from 'node:net';

const PATIENCE_MS = 2000;

export function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const client = net.connect({ path: socket });
    const end = (answered: boolean): void => {
      client.destroy();
      resolve(answered);
    };
    client.setTimeout(PATIENCE_MS, () => end(false));
    client.once('connect', () => end(true));
    client.once('error', () => end(false));
  });
}
