/** A window with several root folders: a queue of each, shown together and told apart. */
import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import Database from 'better-sqlite3';
import { type StatePaths, statePaths } from '../../../shared/paths.ts';
import { journey } from '../host/journey.ts';

const FOLDERS = ['second', 'newer', 'updated', 'strange', 'blocked'];

describe('the window', () => {
  journey('shows a queue per folder, and asks which is meant', { folders: FOLDERS }, async (window, { sandbox }) => {
    // As a newer version of Laneway would have left it.
    const { database, folder } = statePaths(sandbox.folder('newer'), sandbox.env);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    new Database(database).exec('PRAGMA user_version = 9999').close();
    const blocked = statePaths(sandbox.folder('blocked'), sandbox.env);
    writeFileSync(blocked.folder, 'no folder');
    const others = await Promise.all([
      listen(statePaths(sandbox.folder('updated'), sandbox.env), newerServer),
      listen(statePaths(sandbox.folder('strange'), sandbox.env), (socket) =>
        socket.end('220 mail.example ready\r\n\r\n'),
      ),
    ]);

    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.pick('second');
    await window.asked('Type a command');
    await window.answer('node -p "process.cwd()"', 'node -p');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.unfold('Lanes', /^folder second,/);
    await window.unfold('Lanes', /^lane default,/);
    await window.row('Lanes', /^job 1, node -p .*, done/);
    assert.equal(JSON.parse(await sandbox.lane('list', '--json')).jobs.length, 0, 'the other folder has no job');

    await window.unfold('Lanes', /^folder project,/);
    await window.row('Lanes', /^No jobs yet/);
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await window.row('Lanes', /^job 1, node tick\.mjs, running/);
    await window.command('Laneway: Cancel Job');
    await window.pick('project');
    await window.tick('#1 node tick.mjs');
    await window.row('Lanes', /^job 1, node tick\.mjs, canceled/);

    // One that cannot be opened says why, and takes nothing from the others.
    await window.unfold('Lanes', /^folder updated,/);
    await window.row('Lanes', /^The server could not be reached: client \S+ speaks protocol 1, server 99/);
    await window.unfold('Lanes', /^folder strange,/);
    await window.row('Lanes', /^The server could not be reached: what listens on the socket is no Laneway server/);
    const told = async (...words: string[]): Promise<void> => {
      await window.until(`a message of ${words.join(', ')}`, async () => {
        const shown = await window.messages();
        return words.every((each) => shown.includes(each));
      });
    };
    await window.unfold('Lanes', /^folder newer,/);
    await window.row('Lanes', /^The server could not be reached: .* has schema 9999/);
    await told('schema 9999', 'Check for Updates', 'Reload Window', 'Show Server Log');
    await window.unfold('Lanes', /^folder blocked,/);
    await window.row('Lanes', /^The server could not be reached: .* is no folder/);
    await told('is no folder', 'Open Terminal', 'Show Server Log');
    assert.match(await window.statusItem(), /schema 9999|speaks protocol|no Laneway server|is no folder/);
    assert.equal((await window.rows('Lanes')).filter((row) => row.startsWith('folder ')).length, 1 + FOLDERS.length);
    for (const other of others) other.close();
    await window.screenshot('folders');
  });

  journey(
    'takes along the queue of a renamed folder, deletes that of a removed one, refuses another’s',
    {},
    async (_, editor) => {
      const { sandbox } = editor;
      const before = sandbox.folder('before');
      const now = sandbox.folder('now');
      const gone = sandbox.folder('gone');
      const place = sandbox.folder('place');
      for (const folder of [before, gone, place]) {
        mkdirSync(folder);
        await sandbox.lane('--workspace', folder, '--direct', 'add', '--after', '1h', '--', 'node', '--version');
      }
      renameSync(before, now);
      rmSync(gone, { recursive: true });
      renameSync(place, `${place}-moved`);
      mkdirSync(place);

      const window = await editor.open(now);
      await window.openViews();
      await window.until('the empty queue', async () => /No jobs yet/.test(await window.sideBar()));
      await sandbox.lane('workspaces', 'move', before, now);
      // Its server was ended for the move: started again by a click, where the window has not found it by itself.
      const start = window.page.locator('.sidebar .monaco-button', { hasText: 'Start Server' }).first();
      await window.until('its job', async () => {
        if (await start.isVisible()) await start.click({ timeout: 2000 });
        return (await window.rows('Lanes')).some((row) => row.startsWith('job 1, node --version, scheduled'));
      });

      await window.command('Laneway: Delete Queues of Removed');
      await window.tick('/gone');
      await window.page.locator('.monaco-dialog-box .monaco-button', { hasText: 'Delete' }).click();
      await window.until('it to be gone', async () => !/\/gone$/m.test(await sandbox.lane('workspaces')));
      await sandbox.lane('--workspace', now, 'server', 'stop', '--force');

      const other = await editor.open(place);
      await other.openViews();
      await other.until('what to do', async () => (await other.messages()).includes(`workspaces adopt ${place}`));
      assert.match(await other.messages(), /another folder[^]*workspaces move[^]*workspaces remove/);
      assert.deepEqual(await other.rows('Lanes'), []);
    },
  );
});

/** Something in the place of a folder's server. */
async function listen({ socket }: StatePaths, answer: (socket: net.Socket) => void): Promise<net.Server> {
  mkdirSync(path.dirname(socket), { recursive: true, mode: 0o700 });
  const server = net.createServer((each) => {
    each.on('error', () => undefined);
    answer(each);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return server.unref();
}

/** Answers the greeting as a server of a later protocol does. */
function newerServer(socket: net.Socket): void {
  socket.on('data', (data) => {
    const id = /"id":(\d+)/.exec(data.toString('latin1'))?.[1];
    if (id === undefined) return;
    const message = 'client 0.1.0 speaks protocol 1, server 99.0.0 speaks protocol 2';
    const hint = 'install Laneway 99.0.0 or newer, then try again';
    const mismatch = { code: 'VERSION_MISMATCH', message, hint, protocol: 2, version: '99.0.0', running: 0 };
    const error = { code: -32_050, message, data: mismatch };
    const body = JSON.stringify({ jsonrpc: '2.0', id: Number(id), error });
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}
