/** Sampling A B C, B C A, C A B …: what the machine does meanwhile happens to all of them. */

/** Takes one sample; what the figure means is the caller's. */
export type Subject = () => Promise<number>;

/** Rounds there are in any case, for a median. */
const LEAST_ROUNDS = 3;

/**
 * `rounds` samples of each subject, the one that goes first moving on from round to round. Sample `i`
 * of all subjects is of the same round. Rounds before them warm up and are not counted. Once `withinMs`
 * are over no further round is begun: a busy machine gives fewer samples, not a run that takes as many
 * times as long.
 */
export async function interleave<K extends string>(
  subjects: Readonly<Record<K, Subject>>,
  { rounds, warmUp = 1, withinMs = 20_000 }: { rounds: number; warmUp?: number; withinMs?: number },
): Promise<Record<K, number[]>> {
  const names = Object.keys(subjects) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<K, number[]>;
  const end = performance.now() + withinMs;
  for (let round = -warmUp; round < rounds; round += 1) {
    if (round >= LEAST_ROUNDS && performance.now() > end) break;
    for (const [at] of names.entries()) {
      const name = names[(at + round + warmUp) % names.length] as K;
      const sample = await subjects[name]();
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}
