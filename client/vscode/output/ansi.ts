/**
 * Takes terminal control out of text that comes in pieces: a colour sequence cut by a page is
 * still one sequence. What an editor can show (newline, tab, carriage return) stays.
 */

/** Characters of an unfinished sequence that are waited for; a longer one is no sequence but a stray ESC. */
const LONGEST = 4096;

type Mode = 'text' | 'escape' | 'intermediate' | 'csi' | 'string' | 'string-escape';

export class AnsiStripper {
  #mode: Mode = 'text';
  #waited = 0;

  /** The next piece without control sequences. */
  push(text: string): string {
    // The usual piece has nothing to strip.
    if (this.#mode === 'text' && !hasControl(text)) return text;
    let kept = '';
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#mode === 'text') {
        if (!isControl(code)) continue;
        kept += text.slice(from, at);
        from = at + 1;
        this.#mode = startOf(code);
        this.#waited = 0;
        continue;
      }
      this.#waited += 1;
      if (code === 0x0a || code === 0x0d) {
        // A sequence that never ended must not swallow the lines after it.
        this.#mode = 'text';
        from = at;
        continue;
      }
      this.#mode = this.#waited > LONGEST ? 'text' : next(this.#mode, code);
      from = at + 1;
    }
    return this.#mode === 'text' ? kept + text.slice(from) : kept;
  }
}

function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) || (code >= 0x7f && code <= 0x9f);
}

function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (isControl(text.charCodeAt(at))) return true;
  return false;
}

function startOf(code: number): Mode {
  switch (code) {
    case 0x1b:
      return 'escape';
    case 0x9b:
      return 'csi';
    case 0x90:
    case 0x98:
    case 0x9d:
    case 0x9e:
    case 0x9f:
      return 'string';
    default:
      return 'text';
  }
}

/** The mode after one more character of a sequence. */
function next(mode: Exclude<Mode, 'text'>, code: number): Mode {
  // A sequence that breaks off in a line ends there: cancel, substitute.
  if (code === 0x18 || code === 0x1a) return 'text';
  switch (mode) {
    case 'escape':
      if (code === 0x5b) return 'csi';
      // OSC, DCS, SOS, PM, APC carry a string up to its terminator.
      if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) return 'string';
      return code >= 0x20 && code <= 0x2f ? 'intermediate' : 'text';
    case 'intermediate':
      return code >= 0x20 && code <= 0x2f ? 'intermediate' : 'text';
    case 'csi':
      return code >= 0x20 && code <= 0x3f ? 'csi' : 'text';
    case 'string':
      if (code === 0x07 || code === 0x9c) return 'text';
      return code === 0x1b ? 'string-escape' : 'string';
    case 'string-escape':
      return code === 0x5c ? 'text' : 'string';
  }
}
