/** One line of the result: a figure, what it is held against, and whether that is as wanted. Pure. */

export interface Row {
  /** `P1` … */
  id: string;
  what: string;
  value: number;
  unit: string;
  /** The yardstick of the same run, in the same unit. */
  beside?: { what: string; value: number };
  /** `value` in terms of the yardstick, usually pair by pair. */
  ratio?: number;
  /** What is wanted, of the ratio or of the value itself. Absent: only told. */
  target?: Target;
}

export interface Target {
  of: 'ratio' | 'value';
  atMost?: number;
  atLeast?: number;
}

/** Null when nothing is wanted of the row, or the figure is missing. */
export function isMet({ value, ratio, target }: Row): boolean | null {
  if (target === undefined) return null;
  const figure = target.of === 'ratio' ? ratio : value;
  if (figure === undefined || Number.isNaN(figure)) return null;
  return (
    figure <= (target.atMost ?? Number.POSITIVE_INFINITY) && figure >= (target.atLeast ?? Number.NEGATIVE_INFINITY)
  );
}
