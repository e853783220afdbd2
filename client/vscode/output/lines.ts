/**
 * Progress that redraws one line with carriage returns, for a place that can only append: such a
 * line is held back and its last state written when the line ends. A line that has not
 * returned yet is written as it comes, so a prompt without a newline is seen.
 */

/** Characters of a held-back line; past that it is written as it stands. */
const LONGEST_HELD = 65_536;

export class LineCollapser {
  /** What of the current line is not written yet: only while it is being redrawn. */
  #held = '';
  /** The line has returned to its start at least once. */
  #redrawn = false;
  /** Something of the current line stands written already. */
  #written = false;
  /** The last character was a carriage return: of a redraw, or of a Windows line end. */
  #returned = false;

  /** What to append for the next piece of text. */
  push(text: string): string {
    let out = '';
    let at = 0;
    while (at < text.length) {
      const end = nextBreak(text, at);
      if (end > at) out += this.#take(text.slice(at, end));
      if (end < text.length) {
        if (text.charCodeAt(end) === 0x0d) this.#returned = true;
        else out += `${this.#finish()}\n`;
      }
      at = end + 1;
    }
    return out;
  }

  /** What to append when no more text comes; ends an open line. */
  end(): string {
    const open = this.#written || this.#held !== '';
    const rest = this.#finish();
    return open ? `${rest}\n` : rest;
  }

  #take(part: string): string {
    if (this.#returned) {
      this.#returned = false;
      this.#redrawn = true;
      this.#held = '';
    }
    if (!this.#redrawn) {
      this.#written = true;
      return part;
    }
    this.#held += part;
    if (this.#held.length <= LONGEST_HELD) return '';
    const rest = this.#finish();
    this.#written = true;
    return rest;
  }

  /** The held rest of the line; a redraw of what is written already goes to a line of its own. */
  #finish(): string {
    const rest = this.#held === '' ? '' : `${this.#written ? '\n' : ''}${this.#held}`;
    this.#held = '';
    this.#redrawn = false;
    this.#written = false;
    this.#returned = false;
    return rest;
  }
}

function nextBreak(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x0a || code === 0x0d) return at;
  }
  return text.length;
}
