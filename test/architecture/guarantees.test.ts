/** docs/guarantees.md names tests: each is there, under that name, and every promise names some. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const page = fs.readFileSync(path.join(root, 'docs/guarantees.md'), 'utf8');

/** Sections by their number. */
const promises = page.split(/^## (?=\d+\. )/m).slice(1);
/** "`test/….test.ts`: the test's name, or the part of it that its source holds as text". */
const NAMED = /`(test\/[\w/.-]+\.test\.ts)`: (.+)$/gm;

describe('docs/guarantees.md', () => {
  it('says of all eight promises how each is kept, shown, and can fail', () => {
    assert.deepEqual(
      promises.map((text) => Number.parseInt(text, 10)),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    for (const text of promises) {
      for (const part of ['**How.**', '**Shown by**', '**How it can still fail**']) {
        assert.ok(text.includes(part), `${part} in ${text.split('\n')[0]}`);
      }
      assert.ok([...text.matchAll(NAMED)].length > 1, `tests in ${text.split('\n')[0]}`);
    }
  });

  it('names tests that exist', () => {
    const named = [...page.matchAll(NAMED)];
    const missing = named.filter(([, file = '', name = '']) => !holds(file, name)).map(([line]) => line);
    assert.deepEqual(missing, []);
    // One that the pattern does not see would be checked by nobody.
    assert.equal(named.length, [...page.matchAll(/`test\/[^`]+\.test\.ts`/g)].length);
  });
});

function holds(file: string, name: string): boolean {
  const full = path.join(root, file);
  return fs.existsSync(full) && fs.readFileSync(full, 'utf8').includes(name);
}
