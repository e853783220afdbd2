/**
 * LSP's framing: `Content-Length: <bytes>\r\n\r\n<JSON>`. Our own, because the CLI lives from
 * its start time and a JSON-RPC library would cost more than the rest of `lane add`.
 */
import { LanewayError } from './errors.ts';

/** Bytes of one message; a batch of 10,000 jobs or a 4 MiB log page stays well below. */
const MAX_MESSAGE_BYTES = 134_217_728;
/** Bytes of one message's headers. */
export const MAX_HEADER_BYTES = 4096;

const HEADER_END = Buffer.from('\r\n\r\n', 'latin1');

/** A message as it goes over the wire. */
export function encodeFrame(message: object): string {
  const body = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

export interface FrameDecoder {
  /**
   * The messages that this chunk completes, in order.
   * @throws LanewayError ENVIRONMENT when the other side does not speak the protocol, or a
   *   message is larger than allowed; the decoder is of no use afterwards.
   */
  push(chunk: Uint8Array): unknown[];
}

/** Reads frames out of chunks cut anywhere. Holds at most one message and one chunk. */
export function frameDecoder(maxBytes: number = MAX_MESSAGE_BYTES): FrameDecoder {
  let chunks: Buffer[] = [];
  let held = 0;
  /** Bytes of the body that is awaited; -1 while reading headers. */
  let awaited = -1;

  const join = (): Buffer => {
    const joined = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, held);
    chunks = [joined];
    return joined;
  };
  const drop = (bytes: number): void => {
    const rest = join().subarray(bytes);
    held = rest.length;
    chunks = held === 0 ? [] : [rest];
  };

  return {
    push(chunk) {
      chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      held += chunk.byteLength;
      const messages: unknown[] = [];
      for (;;) {
        if (awaited < 0) {
          if (held === 0) return messages;
          const bytes = join();
          const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf(HEADER_END);
          if (end < 0) {
            if (held >= MAX_HEADER_BYTES) throw strange('headers without an end');
            return messages;
          }
          awaited = contentLength(bytes.toString('latin1', 0, end));
          if (awaited > maxBytes) throw strange(`a message of ${awaited} bytes, where ${maxBytes} are allowed`);
          drop(end + HEADER_END.length);
        }
        if (held < awaited) return messages;
        messages.push(parse(join().toString('utf8', 0, awaited)));
        drop(awaited);
        awaited = -1;
      }
    },
  };
}

function contentLength(headers: string): number {
  const match = /^content-length:[ \t]*(\d{1,15})[ \t]*$/im.exec(headers);
  if (!match) throw strange('a message without Content-Length');
  return Number(match[1]);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw strange('a message that is no JSON');
  }
}

function strange(what: string): LanewayError {
  return new LanewayError('ENVIRONMENT', `The other side of the socket sent ${what}`, 'Run: lane server restart');
}
