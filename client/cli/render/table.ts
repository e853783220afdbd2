/**
 * Tables for terminals: columns aligned by display width, coloured after measuring, and shrunk to
 * the terminal by the columns that may shrink. Texts are escaped here, so that no caller can forget.
 */
import { displayWidth, escapeControls, pad, truncate } from '../../../shared/text.ts';
import { paint, type Style, type View } from './view.ts';

export interface Cell {
  readonly text: string;
  readonly style?: Style | null;
}

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** May be cut down to this width when the terminal is too narrow. */
  readonly shrinkTo?: number;
  /** Never wider than this, however wide the terminal is. */
  readonly most?: number;
}

const GAP = 2;

/** Header and rows as lines. A column that is empty in every row is left out. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly (Cell | string)[])[],
  view: View,
  indent = '',
): string[] {
  const cells = rows.map((row) => row.map(clean));
  const used = columns
    .map((column, index) => ({ column, index }))
    .filter(({ index }) => cells.some((row) => (row[index]?.text ?? '') !== ''));
  if (used.length === 0) return [];
  const widths = used.map(({ column, index }) => {
    const widest = cells.reduce((most, row) => Math.max(most, displayWidth(row[index]?.text ?? '')), 0);
    return Math.max(displayWidth(column.title), Math.min(widest, column.most ?? Number.POSITIVE_INFINITY));
  });
  shrink(
    widths,
    used.map(({ column }) => column.shrinkTo),
    view.width - indent.length - GAP * (used.length - 1),
  );

  const line = (cell: (index: number) => Cell): string => {
    const parts = used.map(({ column, index }, at) => {
      const width = widths[at] ?? 0;
      const { text, style } = cell(index);
      const cut = truncate(text, width);
      // Nothing is filled up at a line's end: trailing spaces only wrap.
      const last = at === used.length - 1 && column.align !== 'right';
      const filled = last ? cut : pad(cut, width, column.align);
      return filled === '' ? '' : filled.replace(cut, () => paint(view, style, cut));
    });
    return (indent + parts.join(' '.repeat(GAP))).trimEnd();
  };
  return [
    line((index) => ({ text: columns[index]?.title ?? '', style: 'dim' })),
    ...cells.map((row) => line((index) => row[index] ?? { text: '' })),
  ];
}

function clean(cell: Cell | string): Cell {
  return typeof cell === 'string' ? { text: escapeControls(cell) } : { ...cell, text: escapeControls(cell.text) };
}

/** Takes columns from the widest shrinkable one until the sum fits, or nothing may shrink further. */
function shrink(widths: number[], least: readonly (number | undefined)[], room: number): void {
  for (;;) {
    const over = widths.reduce((sum, width) => sum + width, 0) - room;
    if (over <= 0) return;
    let widest = -1;
    for (const [at, width] of widths.entries()) {
      const floor = least[at];
      if (floor !== undefined && width > floor && (widest < 0 || width > (widths[widest] ?? 0))) widest = at;
    }
    if (widest < 0) return;
    // Down to the next widest at once, so that a very long command costs no thousand rounds.
    const floor = least[widest] ?? 0;
    const width = widths[widest] ?? 0;
    const others = widths.filter((other, at) => at !== widest && least[at] !== undefined && other < width);
    const next = Math.max(floor, ...others);
    widths[widest] = Math.max(floor, width - Math.min(over, Math.max(1, width - next)));
  }
}

/** One name and its value per line, the values aligned. Null values are left out. */
export function facts(
  entries: readonly (readonly [string, Cell | string | null])[],
  view: View,
  indent = '  ',
): string[] {
  const given = entries.filter((entry): entry is readonly [string, Cell | string] => entry[1] !== null);
  const width = Math.max(0, ...given.map(([name]) => displayWidth(name)));
  return given.map(([name, value]) => {
    const { text, style } = clean(value);
    return `${indent}${paint(view, 'dim', pad(name, width))}  ${paint(view, style, text)}`;
  });
}

export interface Branch {
  readonly text: string;
  readonly children?: readonly Branch[];
}

/** A tree whose texts are drawn already. */
export function tree(branches: readonly Branch[], view: View, indent = '  '): string[] {
  return branches.flatMap(({ text, children }, index) => {
    const last = index === branches.length - 1;
    return [
      `${indent}${paint(view, 'dim', last ? '└─' : '├─')} ${text}`,
      ...tree(children ?? [], view, `${indent}${last ? ' ' : paint(view, 'dim', '│')}  `),
    ];
  });
}
