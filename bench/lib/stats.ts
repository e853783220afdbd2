/** The few figures that a run on a busy machine can be judged by. Pure. */

/** The middle of the values; the mean of the middle two; NaN of none. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The value below which `p` percent lie, between neighbours in proportion; NaN of none. */
export function percentile(values: readonly number[], p: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (p / 100) * (sorted.length - 1);
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

/**
 * How many times as large `a` is, pair by pair: samples of one round were taken under the same load,
 * so their ratio holds where the values drift.
 */
export function pairedRatio(a: readonly number[], b: readonly number[]): number {
  return median(a.slice(0, b.length).map((value, index) => value / (b[index] as number)));
}
