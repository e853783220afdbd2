import assert from 'node:assert/strict';
import test from 'node:test';
import { LanewayError } from '../../shared/errors.ts';
import { encodeFrame, frameDecoder, MAX_HEADER_BYTES } from '../../shared/framing.ts';

const MESSAGES = [
  { id: 1, method: 'a', params: null },
  { id: 2, text: 'ü 漢 😀 \r\n\r\n Content-Length: 3' },
  { id: 3, big: 'x'.repeat(70_000) },
  {},
];
const WIRE = Buffer.from(MESSAGES.map(encodeFrame).join(''), 'utf8');

test('messages survive any cut into chunks', () => {
  for (const size of [1, 2, 3, 7, 21, 64, 1024, 65_536, WIRE.length]) {
    const decoder = frameDecoder();
    const got: unknown[] = [];
    for (let at = 0; at < WIRE.length; at += size) got.push(...decoder.push(WIRE.subarray(at, at + size)));
    assert.deepEqual(got, MESSAGES, `chunks of ${size} bytes`);
  }
});

test('headers may come in any case, order and number', () => {
  const body = '{"ok":true}';
  const wire = `Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:${body.length}\r\n\r\n${body}`;
  assert.deepEqual(frameDecoder().push(Buffer.from(wire)), [{ ok: true }]);
});

test('what is no frame, or too much, is refused and never buffered without bound', () => {
  const cases: [string, RegExp][] = [
    ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', /without Content-Length/],
    ['x'.repeat(MAX_HEADER_BYTES), /headers without an end/],
    ['Content-Length: 1001\r\n\r\n', /1001 bytes, where 1000 are allowed/],
    ['Content-Length: -5\r\n\r\n', /without Content-Length/],
    ['Content-Length: 4\r\n\r\nnope', /no JSON/],
  ];
  for (const [wire, message] of cases) {
    assert.throws(
      () => frameDecoder(1000).push(Buffer.from(wire)),
      (error: unknown) => error instanceof LanewayError && error.code === 'ENVIRONMENT' && message.test(error.message),
      wire.slice(0, 40),
    );
  }
});
