/** Tells a running server that the database has changed, so that it need not find out by itself. */
import net from 'node:net';
import { encodeFrame } from '../../shared/framing.ts';
import { Poke, PROTOCOL } from '../../shared/protocol.ts';
import { VERSION } from '../version.ts';

const PATIENCE_MS = 200;

/** Never fails: without it the server looks by itself, a little later. */
export function poke(socket: string): Promise<void> {
  return new Promise((resolve) => {
    const client = net.connect({ path: socket });
    const end = (): void => {
      client.destroy();
      resolve();
    };
    client.setTimeout(PATIENCE_MS, end);
    client.once('error', end);
    client.once('close', end);
    // The answer to the greeting shows that both were read.
    client.once('data', () => client.end());
    const hello = { protocol: PROTOCOL, version: VERSION, client: 'cli' };
    client.write(
      encodeFrame({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { processId: null, rootUri: null, capabilities: {}, initializationOptions: hello },
      }) + encodeFrame({ jsonrpc: '2.0', method: Poke.method, params: null }),
    );
  });
}
