import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { sha256Hex } from '../../shared/sha256.ts';

test('agrees with the platform for every length around a block, and for text that is not ASCII', () => {
  const texts = Array.from({ length: 200 }, (_, length) => 'a'.repeat(length));
  texts.push('/home/jörg/проект/😀', 'x'.repeat(4096));
  for (const text of texts) {
    assert.equal(sha256Hex(text), createHash('sha256').update(text).digest('hex'), `${text.length} characters`);
  }
});
