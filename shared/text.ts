/**
 * Text that came from elsewhere, made fit for a terminal or a tree: control characters visibly
 * escaped, widths as a terminal draws them, cuts that never split a character.
 */

/**
 * What must not reach a terminal raw: C0, DEL and C1, line separators, the controls that reorder
 * text, invisible spaces and marks, and halves of surrogate pairs. A joiner between emoji stays.
 */
const HIDDEN = /[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\p{Cs}]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/** The text with every control or invisible character written visibly: `\n`, `\e`, `\x07`, `\u202e`. */
export function escapeControls(text: string): string {
  return text.replace(HIDDEN, (char) => {
    const named = NAMED[char];
    if (named !== undefined) return named;
    const code = char.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A value as error messages name it: in quotes, escaped, cut at 60 columns. */
export function quoteValue(value: unknown): string {
  const text = typeof value === 'string' ? `"${escapeControls(value)}"` : describe(value);
  return truncate(text, 60);
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return `${value}`;
  return escapeControls(JSON.stringify(value) ?? `a ${typeof value}`);
}

/** One column per unit: Latin, Greek, Cyrillic, and the signs and lines that we draw with. The fast way. */
const NARROW =
  /^[\u0020-\u02ff\u0370-\u0482\u048a-\u0588\u2010-\u2027\u2190-\u21ff\u2200-\u22ff\u2500-\u257f\u25a0-\u25fc\u2714\u2716]*$/;
/** Made at first use: most runs of the command line never meet anything but ASCII. */
let segmenter: Intl.Segmenter | undefined;
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** First and last code points that terminals draw two columns wide (Unicode's W and F, by block). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];

function graphemeWidth(grapheme: string): number {
  // Written here, since building these classes takes longer than most commands do with text.
  if (/\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  if (/^[\p{Mn}\p{Me}\p{Cf}]$/u.test(String.fromCodePoint(code))) return 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Columns a terminal needs for the text, which holds no control characters. */
export function displayWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** The text cut to at most `width` columns, ending in `…` when something was cut. */
export function truncate(text: string, width: number): string {
  if (NARROW.test(text)) return text.length <= width ? text : width < 1 ? '' : `${text.slice(0, width - 1)}…`;
  // A grapheme of a long text need not be counted to its end to know that it does not fit.
  let used = 0;
  let fits = '';
  for (const { segment } of graphemes(text)) {
    const next = graphemeWidth(segment);
    if (used + next > width) {
      if (width < 1) return '';
      return `${cut(fits, width - 1)}…`;
    }
    used += next;
    fits += segment;
  }
  return text;
}

function cut(text: string, width: number): string {
  let used = 0;
  let kept = '';
  for (const { segment } of graphemes(text)) {
    used += graphemeWidth(segment);
    if (used > width) break;
    kept += segment;
  }
  return kept;
}

/** The text filled with spaces to `width` columns; longer text stays as it is. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'left' ? text + space : space + text;
}
