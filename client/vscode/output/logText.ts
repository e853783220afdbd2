/** A log's bytes as the text of a channel or document: decoded, without terminal control, redraws collapsed. */
import { AnsiStripper } from './ansi.ts';
import { LineCollapser } from './lines.ts';
import { Utf8Decoder } from './utf8.ts';

export class LogText {
  readonly #decoder = new Utf8Decoder();
  readonly #ansi = new AnsiStripper();
  readonly #lines = new LineCollapser();

  /** Places so far where bytes were no UTF-8; each shows as U+FFFD. */
  get undecodable(): number {
    return this.#decoder.undecodable;
  }

  push(bytes: Uint8Array): string {
    return this.#lines.push(this.#ansi.push(this.#decoder.push(bytes)));
  }

  /** What remains when the log is complete; an open line is ended. */
  end(): string {
    return this.#lines.push(this.#ansi.push(this.#decoder.end())) + this.#lines.end();
  }
}
