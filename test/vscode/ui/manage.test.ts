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
});
