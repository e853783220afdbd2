import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { displayWidth, escapeControls, pad, quoteValue, truncate } from '../../shared/text.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });

describe('text for terminals', () => {
  it('escapes what must not reach a terminal, and nothing else', () => {
    const table: [string, string][] = [
      ['plain ünïcode 漢字 👩‍👩‍👧', 'plain ünïcode 漢字 👩‍👩‍👧'],
      ['a\tb\nc\rd', 'a\\tb\\nc\\rd'],
      ['\u001b[31mred\u001b]0;title\u0007', '\\e[31mred\\e]0;title\\x07'],
      ['\u0000\u007f\u009b31m', '\\x00\\x7f\\x9b31m'],
      ['\u202egnp.exe\u2066\u200b\ufeff\u2028', '\\u202egnp.exe\\u2066\\u200b\\ufeff\\u2028'],
      ['\ud800x\udc00', '\\ud800x\\udc00'],
      ['back\\slash', 'back\\slash'],
    ];
    for (const [text, escaped] of table) assert.equal(escapeControls(text), escaped);
    fc.assert(fc.property(anyText, (text) => !/[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u.test(escapeControls(text))));
  });

  it('measures columns as a terminal draws them', () => {
    const table: [string, number][] = [
      ['abc', 3],
      ['漢字', 4],
      ['e\u0301', 1],
      ['👩‍👩‍👧', 2],
      ['🇫🇷', 2],
      ['ﾊﾛｰ', 3],
      ['한글', 4],
      ['✔', 1],
      ['…', 1],
    ];
    for (const [text, width] of table) assert.equal(displayWidth(text), width, text);
  });

  it('cuts and fills to a width, never splitting a character', () => {
    assert.equal(truncate('abcdef', 4), 'abc…');
    assert.equal(truncate('漢字漢字', 5), '漢字…');
    assert.equal(truncate('漢字漢字', 4), '漢…');
    assert.equal(truncate('abc', 3), 'abc');
    assert.equal(truncate('abc', 0), '');
    assert.equal(pad('漢', 4), '漢  ');
    assert.equal(pad('7', 3, 'right'), '  7');
    fc.assert(
      fc.property(anyText.map(escapeControls), fc.nat(30), (text, width) => {
        const cut = truncate(text, width);
        assert.ok(displayWidth(cut) <= width);
        assert.ok(cut === text || text.startsWith(cut.replace(/…$/, '')));
        assert.ok(displayWidth(pad(cut, width)) === width);
      }),
    );
  });

  it('names values in one short line', () => {
    assert.equal(quoteValue('a\nb'), '"a\\nb"');
    assert.equal(quoteValue(undefined), 'nothing');
    assert.equal(quoteValue({ a: [1] }), '{"a":[1]}');
    assert.equal(quoteValue(Number.NaN), 'NaN');
    assert.ok(displayWidth(quoteValue('x'.repeat(1000))) <= 60);
  });
});
