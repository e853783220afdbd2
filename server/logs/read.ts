/**
 * Reading an attempt's log by byte range, in bounded memory. A page never cuts a UTF-8 character,
 * at either end, unless asked for raw bytes; bytes that are no UTF-8 are left where they are.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES } from '../../shared/limits.ts';

export interface PageRequest {
  /** Bytes from the start; beyond the end (the job truncated its log) it gives an empty page there. */
  offset?: number | null;
  /** Start this many bytes before the end instead. */
  tail?: number | null;
  /** Bytes; bounded by MAX_PAGE_BYTES. */
  limit?: number | null;
  raw?: boolean | null;
  /** The attempt has ended: nothing will complete what is incomplete now. */
  ended: boolean;
}

export interface Page {
  bytes: Buffer;
  /** Where `bytes` starts; a few bytes later than asked when that was inside a character. */
  offset: number;
  /** Of the log now. */
  size: number;
  /** The attempt ended and the page reaches the end. */
  complete: boolean;
}

/** A missing log reads as an empty one. */
export async function readPage(file: string, request: PageRequest): Promise<Page> {
  let handle: FileHandle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { bytes: Buffer.alloc(0), offset: request.offset ?? 0, size: 0, complete: request.ended };
  }
  try {
    const { size } = await handle.stat();
    return await pageOf(handle, size, request);
  } finally {
    await handle.close();
  }
}

/** A character is at most this long; no page is shorter, or it might hold none and never get on. */
const LONGEST_CHARACTER = 4;

async function pageOf(handle: FileHandle, size: number, request: PageRequest): Promise<Page> {
  const { raw = false, ended } = request;
  const asked = Math.min(Math.max(request.limit ?? DEFAULT_PAGE_BYTES, 0), MAX_PAGE_BYTES);
  const limit = raw || asked === 0 ? asked : Math.max(asked, LONGEST_CHARACTER);
  const from =
    request.tail === null || request.tail === undefined
      ? Math.max(request.offset ?? 0, 0)
      : Math.max(size - Math.max(request.tail, 0), 0);
  if (raw) {
    const bytes = await readRange(handle, from, limit);
    return { bytes, offset: from, size, complete: ended && from + bytes.length >= size };
  }
  // Three bytes before the page tell whether it starts inside a character.
  const before = Math.min(from, LONGEST_CHARACTER - 1);
  const window = await readRange(handle, from - before, limit + before);
  const skip = before + charactersStart(window.subarray(Math.min(before, window.length)), window.subarray(0, before));
  const atEnd = from - before + window.length >= size;
  const bytes = window.subarray(Math.min(skip, window.length), wholeCharacters(window, ended && atEnd));
  const offset = from - before + skip;
  return { bytes, offset, size, complete: ended && offset + bytes.length >= size };
}

async function readRange(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { size } = await handle.stat();
  const buffer = Buffer.allocUnsafe(Math.max(Math.min(length, size - position), 0));
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** How many bytes at the start of `page` belong to a character that began in `before`. Pure. */
function charactersStart(page: Uint8Array, before: Uint8Array): number {
  for (let back = 1; back <= before.length; back += 1) {
    const byte = before[before.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const missing = lengthOf(byte) - back;
    if (missing <= 0) return 0;
    for (let index = 0; index < missing; index += 1) {
      const next = page[index];
      // Not a cut character but a broken one: it is shown as such.
      if (next === undefined || !isContinuation(next)) return 0;
    }
    return missing;
  }
  return 0;
}

/** How long the page may be without cutting the character it ends in. `final`: nothing follows. Pure. */
function wholeCharacters(page: Uint8Array, final: boolean): number {
  if (final) return page.length;
  for (let back = 1; back <= Math.min(LONGEST_CHARACTER - 1, page.length); back += 1) {
    const byte = page[page.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return lengthOf(byte) > back ? page.length - back : page.length;
  }
  return page.length;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Length of the character that this byte begins; 1 for a byte that begins none. */
function lengthOf(byte: number): number {
  if (byte >= 0xc2 && byte <= 0xdf) return 2;
  if (byte >= 0xe0 && byte <= 0xef) return 3;
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  return 1;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Text with U+FFFD for what is no UTF-8. */
export function toText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
