import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../helpers/waitFor.ts';

test('waitFor gives the first truthy value', async () => {
  let calls = 0;
  assert.equal(await waitFor(() => (++calls === 3 ? 'ready' : null)), 'ready');
});

test('waitFor says what it waited for, and the last error', async () => {
  const failing = waitFor(
    () => {
      throw new Error('not yet');
    },
    { deadlineMs: 1, what: 'the moon' },
  );
  await assert.rejects(failing, /waited 1 ms for the moon; last: not yet/);
});
