/** Cancelling, retrying, pausing, from the palette and with the tree in sight. */
import assert from 'node:assert/strict';
import { journey } from '../host/journey.ts';

describe('the window', () => {
  journey('cancels a running job, retries a failed one, pauses a lane', {}, async (window, { sandbox }) => {
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await sandbox.lane('add', '--lane', 'other', '--', 'node', 'flaky.mjs');
    await window.openViews();
    await window.row('Lanes', /^job 1, .*running/);
    // A lane without live jobs is folded.
    await window.unfold('Lanes', /^lane other,/);
    await window.row('Lanes', /^job 2, .*dead/);

    await window.command('Laneway: Cancel Job');
    await window.tick('#1');
    await window.row('Lanes', /^job 1, .*canceled/);

    await sandbox.write('mended');
    await window.command('Laneway: Retry Job');
    await window.tick('#2');
    await window.row('Lanes', /^job 2, .*done/);

    await window.command('Laneway: Pause Lane');
    await window.pick('other');
    await window.row('Lanes', /^lane other, .*paused/);
    await sandbox.lane('add', '--lane', 'other', '--', 'node', '--version');
    await window.row('Lanes', /^job 3, .*queued.*paused/);
    await window.command('Laneway: Resume Lane');
    await window.pick('other');
    await window.row('Lanes', /^job 3, .*done/);
    assert.match(await sandbox.lane('output', '2'), /all is well/);
  });

  journey('queues what runs after another job, and configures a lane in its menu', {}, async (window, { sandbox }) => {
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await window.openViews();
    await window.row('Lanes', /^job 1, .*running/);
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.page.locator('.quick-input-widget [aria-label="More options"]').click();
    await window.asked('Change what you need');
    await window.pick('Runs once these jobs are done');
    await window.tick('#1');
    await window.asked('Change what you need');
    await window.pick('Done');
    await window.asked('Type a command');
    await window.answer('node --version');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 2, .*blocked, needs 1/);

    await window.menu('Lanes', /^job 2, /, 'After');
    await window.asked('Type a command');
    await window.answer('node --help', 'node --help');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 3, .*blocked, needs 2/);
    assert.match(await sandbox.lane('show', '2'), /Needs\n.* 1 .*tick[^]*Needed by\n.* 3 .*--help/);

    await window.menu('Lanes', /^lane default,/, "Set Lane's Slots");
    await window.until('the slots to be asked', async () => (await window.quickInput()).includes('How many'));
    await window.page.keyboard.type('3');
    await window.page.keyboard.press('Enter');
    await window.row('Lanes', /^lane default, 1 of 3 running/);
    await sandbox.lane('lanes', 'set', 'default', '--slots', '2');
    await window.row('Lanes', /^lane default, 1 of 2 running/);
    await sandbox.write('stop');
    await window.row('Lanes', /^job 3, .*done/);
  });
});
