/** Jobs belong to no window: reloading, closing, opening another. */
import assert from 'node:assert/strict';
import { journey } from '../host/journey.ts';

describe('the window', () => {
  journey('reloads in the middle of a job: the same process, and its log goes on', {}, async (window, { sandbox }) => {
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await window.openViews();
    await window.row('Lanes', /^job 1, .*running/);
    const pid = (): Promise<string> =>
      sandbox.lane('output', '1').then((text) => /^pid (\d+)/.exec(text)?.[1] ?? assert.fail('it says its pid'));
    const before = await pid();
    await window.reload();
    await window.openViews();
    await window.row('Lanes', /^job 1, .*running/);
    assert.equal(await pid(), before);
    await window.unfold('Lanes', /^job 1,/);
    await window.openLog('Lanes', /^attempt 1\b/, /tick \d/);

    // What was cancelled stays so over a reload.
    await sandbox.lane('cancel', '1', '--wait');
    await window.reload();
    await window.openViews();
    await window.unfold('Lanes', /^lane default,/);
    await window.row('Lanes', /^job 1, .*canceled/);
    assert.match(await sandbox.lane('show', '1', '--json'), /"attempts":\s*1,/);
  });

  journey('and a second window show the same queue', {}, async (window, editor) => {
    await window.openViews();
    const second = await editor.open();
    await second.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('node tick.mjs');
    await window.asked('Which lane?');
    await window.answer('default');
    await second.row('Lanes', /^job 1, .*running/);
    await second.command('Laneway: Cancel Job');
    await second.tick('#1');
    await window.row('Lanes', /^job 1, .*canceled/);
    assert.equal(editor.windows.length, 2);
  });

  journey('in Restricted Mode shows why nothing runs', { restricted: true }, async (window) => {
    await window.openViews();
    await window.until('the reason', async () =>
      /Laneway is off in Restricted Mode/.test(await window.page.locator('.sidebar').innerText()),
    );
    await window.screenshot('restricted');
  });
});
