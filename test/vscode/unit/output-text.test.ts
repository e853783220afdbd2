/** A log's bytes become text, however they are cut into pages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, constantFrom, integer, property } from 'fast-check';
import { LogText } from '../../../client/vscode/output/logText.ts';
import { LineCollapser } from '../../../client/vscode/output/lines.ts';
import { Utf8Decoder } from '../../../client/vscode/output/utf8.ts';

/** The text of all bytes, pushed in pieces of the given sizes, over and over. */
function textOf(bytes: Uint8Array, sizes: readonly number[] = [bytes.length || 1]): string {
  const log = new LogText();
  let text = '';
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? 1;
    text += log.push(bytes.subarray(at, at + size));
    at += size;
  }
  return text + log.end();
}
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('text of a log', () => {
  const cases: [name: string, input: string, expected: string][] = [
    ['plain lines stay', 'one\ntwo\n', 'one\ntwo\n'],
    ['an open last line is ended', 'one\ntwo', 'one\ntwo\n'],
    ['colours go', '\u001b[1;31mred\u001b[0m and \u001b[38;2;1;2;3mtrue\u001b[m\n', 'red and true\n'],
    ['titles and links go', '\u001b]0;title\u0007a\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\\n', 'alink\n'],
    ['other escapes go', '\u001b(B\u001b7\u001b=x\u001bPq#1\u001b\\y\n', 'xy\n'],
    ['bells, nulls and backspaces go', 'a\u0007b\u0000c\u0008d\n', 'abcd\n'],
    ['8-bit control sequences go', 'a\u009b31mb\u009dtitle\u009cc\n', 'abc\n'],
    ['tabs stay', 'a\tb\n', 'a\tb\n'],
    ['an escape that never ends swallows no lines', 'a\u001b\nb\u001b]0;c\nd\n', 'a\nb\nd\n'],
    ['Windows line ends become newlines', 'one\r\ntwo\r\n', 'one\ntwo\n'],
    ['doubled returns too', 'one\r\r\ntwo\n', 'one\ntwo\n'],
    ['redrawn from an empty line: the last state', '\r10%\r20%\r30%\nend\n', '30%\nend\n'],
    ['a return at the very end of the log', '\r10%\r20%\r', '20%\n'],
    ['erasing before redrawing', '\r\u001b[K1/3\r\u001b[K2/3\r\u001b[K3/3\n', '3/3\n'],
    ['non-ASCII stays', 'größe 日本語 🎉\n', 'größe 日本語 🎉\n'],
  ];
  for (const [name, input, expected] of cases) it(name, () => assert.equal(textOf(encode(input)), expected));

  it('is the same however the bytes are cut', () => {
    const pieces = constantFrom(
      'text',
      '\n',
      '\r\n',
      '\r',
      '\u001b[31m',
      '\u001b]0;t\u0007',
      'ü',
      '日',
      '🎉',
      '\u001b[2K',
      '\u0007',
      '\uFFFD',
    );
    check(
      property(
        array(pieces, { maxLength: 40 }),
        array(integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 }),
        (parts, sizes) => {
          const bytes = encode(parts.join(''));
          assert.equal(textOf(bytes, sizes), textOf(bytes));
        },
      ),
    );
  });

  it('collapses 10,000 redraws of a line into what is seen at first and at last', () => {
    let input = 'Downloading\n';
    for (let n = 1; n <= 10_000; n += 1) input += `\r${n} of 10000`;
    assert.equal(textOf(encode(`${input}\ndone\n`), [61]), 'Downloading\n10000 of 10000\ndone\n');
  });

  it('shows an unfinished line at once, and does not hold a 1 MB line back', () => {
    const lines = new LineCollapser();
    assert.equal(lines.push('password: '), 'password: ');
    const long = 'x'.repeat(1_048_576);
    assert.equal(new LineCollapser().push(long), long);
    const redrawn = new LineCollapser();
    const out = redrawn.push('\r') + redrawn.push(long);
    assert.equal(out + redrawn.push('\nnext\n'), `${long}\nnext\n`);
  });
});

describe('bytes that are no UTF-8', () => {
  it('are marked and counted, a genuine U+FFFD is not', () => {
    const decoder = new Utf8Decoder();
    // GBK of 你好, then 0xFF, then a U+FFFD the job wrote itself, cut in the middle.
    const bytes = Uint8Array.from([0xc4, 0xe3, 0xba, 0xc3, 0x0a, 0xff, 0x0a, 0xef, 0xbf]);
    let text = decoder.push(bytes);
    text += decoder.push(Uint8Array.from([0xbd, 0x0a])) + decoder.end();
    assert.match(text, /^\uFFFD[^\n]*\n\uFFFD\n\uFFFD\n$/);
    assert.equal(decoder.undecodable, text.split('\uFFFD').length - 2);
  });

  it('a character cut off by the end of the log is one of them', () => {
    const decoder = new Utf8Decoder();
    assert.equal(decoder.push(encode('日').subarray(0, 2)), '');
    assert.equal(decoder.end(), '\uFFFD');
    assert.equal(decoder.undecodable, 1);
  });
});
