/** `doctor`: what must be true of a queue's database, each checked and named. */
import type { Check } from '../../../shared/job.ts';
import type { Reader } from '../api.ts';

export function check(_r: Reader, _deep: boolean): Check[] {
  return [];
}
