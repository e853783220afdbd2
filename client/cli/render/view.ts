/** How to draw: given to every render function, so that each is pure and testable at any width. */

export interface View {
  /** Columns; Infinity when the output goes to a file or a pipe. */
  readonly width: number;
  readonly colour: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof CODES;

/** The text in a style when the view has colour; the text itself must hold no control characters. */
export function paint(view: View, style: Style | null | undefined, text: string): string {
  if (!view.colour || !style || text === '') return text;
  const [on, off] = CODES[style];
  return `\u001b[${on}m${text}\u001b[${off}m`;
}

/** The view of stdout: cut to the terminal's width, uncut elsewhere, so that nothing is lost to `grep`. */
export function viewOf(context: {
  terminal(): { isTty: boolean; colour: boolean; columns: number };
  now(): number;
}): View {
  const { isTty, colour, columns } = context.terminal();
  return { width: isTty ? Math.max(40, columns) : Number.POSITIVE_INFINITY, colour, now: context.now() };
}
