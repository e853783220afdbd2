/**
 * Bytes to text, piece by piece: a character cut by a page is put together again, what is no
 * UTF-8 becomes U+FFFD, and how often that happened is counted so that the reader can be told.
 */
export class Utf8Decoder {
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #undecodable = 0;
  /** U+FFFD that the job itself wrote, as the bytes EF BF BD: these are no loss. */
  #genuine = 0;
  #matched = 0;

  /** Places so far where bytes were no UTF-8. */
  get undecodable(): number {
    return Math.max(0, this.#undecodable - this.#genuine);
  }

  /** The text of the next bytes; an unfinished character at their end is kept for the next call. */
  push(bytes: Uint8Array): string {
    this.#countGenuine(bytes);
    return this.#count(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What an unfinished character at the very end comes to. The decoder then starts anew. */
  end(): string {
    this.#matched = 0;
    return this.#count(this.#decoder.decode());
  }

  #count(text: string): string {
    for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) this.#undecodable += 1;
    return text;
  }

  #countGenuine(bytes: Uint8Array): void {
    // No search without the first byte: the usual page has none.
    if (this.#matched === 0 && !bytes.includes(0xef)) return;
    for (const byte of bytes) {
      if (byte === REPLACEMENT[this.#matched]) this.#matched += 1;
      else this.#matched = byte === REPLACEMENT[0] ? 1 : 0;
      if (this.#matched === REPLACEMENT.length) {
        this.#genuine += 1;
        this.#matched = 0;
      }
    }
  }
}

const REPLACEMENT = [0xef, 0xbf, 0xbd];
