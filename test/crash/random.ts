/** Chance that can be had again: a small generator, and the seed told with whatever fails. */
export interface Random {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
}

/** Mulberry32: good enough to choose instants with. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return {
    below: (limit) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
    },
  };
}

/**
 * The same choices in every run, unless LANEWAY_TEST_SEED says otherwise. The instants at which they take effect
 * differ from run to run all the same.
 */
export async function withSeed(fallback: number, body: (seed: number) => Promise<void>): Promise<void> {
  const seed = Number(process.env['LANEWAY_TEST_SEED'] ?? fallback);
  try {
    await body(seed);
  } catch (error) {
    throw new Error(`with LANEWAY_TEST_SEED=${seed}: ${(error as Error).message}`, { cause: error });
  }
}
