/** Rows as a table for a terminal or a page. Pure. */
import { isMet, type Row } from './rows.ts';

const HEAD = ['', 'what', 'measured', 'beside it', 'ratio', 'wanted', ''];

/** A table in plain text, which is also one in Markdown. */
export function table(rows: readonly Row[]): string {
  const cells = [HEAD, ...rows.map(toCells)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((row) => (row[column] as string).length), 3));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] as number)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  const [head, ...body] = cells.map(line);
  return [head, rule, ...body].join('\n');
}

function toCells(row: Row): string[] {
  const { id, what, value, unit, beside, ratio, target } = row;
  const met = isMet(row);
  return [
    id,
    what,
    `${figure(value)} ${unit}`,
    beside === undefined ? '' : `${beside.what}: ${figure(beside.value)} ${unit}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    target === undefined ? '' : wanted(target, unit),
    met === null ? '' : met ? 'met' : 'missed',
  ];
}

function wanted({ of, atMost, atLeast }: NonNullable<Row['target']>, unit: string): string {
  const tail = of === 'ratio' ? ' ×' : ` ${unit}`;
  if (atMost !== undefined) return `≤ ${of === 'ratio' ? atMost.toFixed(2) : figure(atMost)}${tail}`;
  return `≥ ${of === 'ratio' ? (atLeast ?? 0).toFixed(2) : figure(atLeast ?? 0)}${tail}`;
}

/** Three significant digits, whole numbers from a hundred on. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
