/** Adding work by typing, watching it run, reading its log. */
import assert from 'node:assert/strict';
import { journey } from '../host/journey.ts';

describe('the window', () => {
  journey('adds a job by typing, shows it running and done, and opens its log', {}, async (window, { sandbox }) => {
    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('node tick.mjs');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 1, node tick\.mjs, running/);
    await window.until('the status bar to count it', async () => /\b1\b/.test(await window.statusBar()));

    await window.unfold('Lanes', /^job 1,/);
    await window.openLog('Lanes', /^attempt 1\b/, /tick \d/);

    await sandbox.write('stop');
    await window.until('its end in the log', async () => /#1\.1 succeeded after/.test(await window.lines('panel')));
    await window.row('Lanes', /^job 1, node tick\.mjs, done/);
    assert.match(await sandbox.lane('output', '1'), /^pid \d+\ntick 1\n/);
  });

  journey('says when a line needs a shell, and passes every argument as typed', {}, async (window, { sandbox }) => {
    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer(`node -p 'process.argv.slice(1).join("|")' -- "a b" '' '$HOME' '*' -x ünï`);
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 1, .*done/);
    assert.equal(await sandbox.lane('output', '1'), 'a b||$HOME|*|-x|ünï\n');

    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('echo one && echo two | cat', 'sh -c');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 2, .*done/);
    assert.equal(await sandbox.lane('output', '2'), 'one\ntwo\n');
  });
});
