/** Tables and trees, whatever they are drawn of. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { table, tree } from '../../client/cli/render/table.ts';
import type { View } from '../../client/cli/render/view.ts';
import { displayWidth } from '../../shared/text.ts';

const plain: View = { width: 80, colour: false, now: 0 };

describe('tables and trees', () => {
  it('never exceed the width as long as columns may shrink', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.string({ unit: 'grapheme', maxLength: 90 }), fc.string({ unit: 'grapheme', maxLength: 90 })),
        ),
        fc.integer({ min: 20, max: 120 }),
        (rows, width) => {
          const lines = table(
            [
              { title: 'A', shrinkTo: 4 },
              { title: 'B', shrinkTo: 4 },
            ],
            rows,
            { ...plain, width },
          );
          assert.ok(lines.every((line) => displayWidth(line) <= width));
          assert.ok(lines.every((line) => line === line.trimEnd()));
        },
      ),
    );
  });

  it('draw branches', () => {
    assert.deepEqual(
      tree(
        [
          { text: 'a', children: [{ text: 'b' }] },
          { text: 'c', children: [{ text: 'd' }] },
        ],
        plain,
        '',
      ),
      ['├─ a', '│  └─ b', '└─ c', '   └─ d'],
    );
  });
});
