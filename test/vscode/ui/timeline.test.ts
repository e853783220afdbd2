/** The timeline: lanes over time, live, by mouse and by keyboard. */
import assert from 'node:assert/strict';
import { journey } from '../host/journey.ts';

describe('the window', () => {
  journey('shows lanes over time, live, and opens a log from a bar', {}, async (window, { sandbox }) => {
    await sandbox.lane('add', '--lane', 'tests', '--retries', '1', '--retry-delay', '100ms', '--', 'node', 'flaky.mjs');
    // It ends dead, which `wait` reports as 6.
    await assert.rejects(sandbox.lane('wait', '1'), /ended with 6/);
    await window.openViews();
    await window.command('Laneway: Show Timeline');
    const page = await window.webview('#canvas[data-bars]');
    const canvas = page.locator('#canvas');
    const bars = (): Promise<string | null> => canvas.getAttribute('data-bars');
    await window.until('both attempts as bars', async () => (await bars()) === '2');
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await window.until('a bar for what was added since', async () => (await bars()) === '3');

    await window.until('the keyboard to choose the newest', async () => {
      await canvas.press('ArrowUp');
      return (await page.locator('#said').textContent())?.startsWith('#2.1 node tick.mjs, running for');
    });
    await canvas.press('Enter');
    await window.until('its log', async () => /tick \d/.test(await window.lines('panel')));
    await sandbox.write('stop');
    await window.until('its end', async () => /#2\.1 succeeded/.test(await window.lines('panel')));

    // A reload keeps the page and what it shows.
    await canvas.press('Home');
    await window.saved(/live\\*":false/);
    await window.reload();
    const again = await window.webview('#canvas[data-bars="3"]');
    assert.equal(await again.locator('#live').getAttribute('aria-pressed'), 'false');
    assert.equal(await window.page.locator('.tabs-container .tab', { hasText: 'Timeline' }).count(), 1);
  });
});
