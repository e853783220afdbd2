/** A window joins the server that runs, also one that a terminal started with another runtime folder. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { tryDial } from '../../../client/vscode/dial.ts';
import { statePaths } from '../../../shared/paths.ts';

const skip = process.platform === 'win32' ? 'pipes lie in no folder' : false;

test('a server is found where it listens, not only where this window would', { skip }, async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'lw-dial-'));
  t.after(() => fs.rmSync(root, { recursive: true, force: true }));
  const paths = (runtime: string) =>
    statePaths(root, { LANEWAY_HOME: path.join(root, 'state'), LANEWAY_RUNTIME: path.join(root, runtime) });
  const [mine, theirs] = [paths('a'), paths('b')];
  fs.mkdirSync(theirs.folder, { recursive: true });
  fs.mkdirSync(path.dirname(theirs.socket), { recursive: true });
  const introduce = (socket: string) => fs.writeFileSync(mine.serverFile, JSON.stringify({ socket }));
  assert.equal(await tryDial(mine), null);
  introduce(theirs.socket);
  assert.equal(await tryDial(mine), null, 'whoever named it has gone');
  const server = net.createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(theirs.socket, resolve));
  t.after(() => server.close());
  const found = await tryDial(mine);
  assert.ok(found);
  found.destroy();
  introduce('relative.sock');
  assert.equal(await tryDial(mine), null);
});
