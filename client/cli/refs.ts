/** Words that name jobs. Checked here too, so that a mistyped one costs no server. */
import type { JobRef } from '../../shared/protocol.ts';
import { validateRef } from '../../shared/validateQuery.ts';
import { invalid } from './args.ts';

/** @throws LanewayError INVALID_INPUT unless there is exactly one */
export function oneRef(words: readonly string[], usage: string): JobRef {
  if (words.length !== 1) throw invalid(words.length === 0 ? 'No job is named' : 'One job is expected', usage);
  return validateRef(words[0]);
}

export function someRefs(words: readonly string[]): JobRef[] {
  return words.map(validateRef);
}
