/** Which jobs a command line means: ids as words, or `--all` and its filters. Shared by the verbs that take jobs. */
import { STATE_FILTERS, type StateFilter } from '../../shared/job.ts';
import { LANE_NAME } from '../../shared/limits.ts';
import type { JobRef, Selection } from '../../shared/protocol.ts';
import { quoteValue } from '../../shared/text.ts';
import { validateRef } from '../../shared/validateQuery.ts';
import { type Flag, invalid, many, parseChoice, parsed, parseList, parsePair, type ManyFlag } from './args.ts';

export function parseLane(given: string): string {
  if (LANE_NAME.test(given)) return given;
  throw invalid(
    `${quoteValue(given)} is no lane name: 1 to 64 of letters, digits, ".", "_", "-", beginning with a letter or digit`,
  );
}

/** `--lane NAME`, also written `--queue`. */
export function laneFlag(help: string): Flag<string> {
  return parsed('NAME', help, parseLane, { aliases: ['queue'] });
}

/** `--state S[,S]`, the words of other tools included. */
export function stateFlag(help: string): Flag<StateFilter[]> {
  const parse = (given: string): StateFilter[] => parseList(given).map((word) => parseChoice(word, STATE_FILTERS));
  return { ...parsed('S[,S]', help, parse), choices: STATE_FILTERS };
}

/** `--tag K=V`, repeatable: every one must match. */
export function tagFlag(help: string): ManyFlag<[string, string]> {
  return many(parsed('K=V', help, parsePair));
}

/** Every word as a reference: ids, `last`, `label:NAME`; each once. At least one. */
export function refsOf(words: readonly string[], verb: string): JobRef[] {
  if (words.length === 0)
    throw invalid('no job is named', `Write: lane ${verb} ID, where ID may be "last" or label:NAME.`);
  return [...new Set(words.map(validateRef))];
}

/** The only word as a reference. */
export function refOf(words: readonly string[], verb: string): JobRef {
  const [ref, ...more] = refsOf(words, verb);
  if (ref === undefined || more.length > 0)
    throw invalid(`lane ${verb} takes one job; ${words.length} are named`, 'Name one.');
  return ref;
}

/** No words are expected. */
export function noWords(words: readonly string[], verb: string): void {
  if (words.length > 0) {
    throw invalid(`lane ${verb} takes no argument ${quoteValue(words[0])}`, `See: lane help ${verb}`);
  }
}

/** Tags as given, in the form of the protocol; null when none was. */
export function tagsOf(pairs: readonly (readonly [string, string])[] | undefined): Record<string, string> | null {
  return pairs === undefined || pairs.length === 0 ? null : Object.fromEntries(pairs);
}

interface SelectionFlags {
  readonly all: boolean;
  readonly lane?: string | null;
  readonly state?: StateFilter[] | null;
  readonly tag?: readonly [string, string][];
}

/** Ids, or `--all`; a filter alone means all that it matches. */
export function selectionOf(words: readonly string[], flags: SelectionFlags, verb: string): Selection {
  const tags = tagsOf(flags.tag);
  const filtered = Boolean(flags.lane) || Boolean(flags.state) || tags !== null;
  if (words.length === 0 && !flags.all && !filtered) {
    throw invalid('no job is named', `Write: lane ${verb} ID, or choose with --all.`);
  }
  if (words.length > 0) {
    if (flags.all || filtered) {
      throw invalid('jobs are chosen both by id and by --all or a filter', 'Leave one of the two out.');
    }
    return { ids: refsOf(words, verb) };
  }
  return { all: true, lane: flags.lane ?? null, states: flags.state ?? null, tags };
}
