/** A window with several root folders: a queue of each, shown together and told apart. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import { statePaths } from '../../../shared/paths.ts';
import { journey } from '../host/journey.ts';

const FOLDERS = ['second', 'newer'];

describe('the window', () => {
  journey('shows a queue per folder, and asks which is meant', { folders: FOLDERS }, async (window, { sandbox }) => {
    // As a newer version of Laneway would have left it.
    const { database, folder } = statePaths(sandbox.folder('newer'), sandbox.env);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    new Database(database).exec('PRAGMA user_version = 9999').close();

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
    await window.unfold('Lanes', /^folder newer,/);
    await window.row('Lanes', /^The server could not be reached: .* has schema 9999/);
    await window.command('Notifications: Show Notifications');
    await window.until('a message with a way on', async () => {
      const shown = await window.page.locator('.notifications-center').innerText({ timeout: 2000 });
      return shown.includes('schema 9999') && shown.includes('Check for Updates');
    });
    assert.equal((await window.rows('Lanes')).filter((row) => row.startsWith('folder ')).length, 3);
    await window.screenshot('folders');
  });
});
