/**
 * What may come next on a command line: decided from the verbs' declarations alone, without
 * a queue. What only the queue knows (ids, lanes) is named here and fetched elsewhere.
 */
import { flagNames, type Flags } from '../args.ts';
import { GLOBAL_FLAGS, type Verb } from '../verb.ts';

export interface Candidate {
  readonly value: string;
  readonly says: string;
}

/** What a word at the cursor may be. */
export interface Wanted {
  /** Known from declarations. */
  readonly candidates: readonly Candidate[];
  /** To be fetched from the queue. `prefix` stands before each. */
  readonly from: 'live' | 'waiting' | 'dead' | 'jobs' | 'lanes' | null;
  /** To be completed by the shell itself. */
  readonly shell: 'files' | 'folders' | 'command' | null;
  /** What stands before the part being completed: `--lane=`, or `queued,` of a list. */
  readonly prefix: string;
}

const NOTHING: Wanted = { candidates: [], from: null, shell: null, prefix: '' };

/** Which jobs the words of a verb are. */
const JOBS: Readonly<Record<string, Wanted['from']>> = {
  show: 'jobs',
  output: 'jobs',
  timeline: 'jobs',
  rerun: 'jobs',
  cancel: 'live',
  wait: 'live',
  retry: 'dead',
  bump: 'waiting',
  pause: 'lanes',
  resume: 'lanes',
};
const FOLDERS = new Set(['workspace', 'cwd']);

export interface Known {
  readonly verbs: readonly { readonly names: readonly string[]; readonly summary: string }[];
  /** The verb a word stands for. */
  load(word: string): Promise<Verb | null>;
}

/**
 * What the last of `words` may become; `words` begin after `lane` and end at the cursor, so that the
 * last is what is typed so far (perhaps nothing).
 */
export async function wanted(words: readonly string[], known: Known): Promise<Wanted> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const dashes = before.indexOf('--');
  const at = verbIndex(before);
  const verb = at === null ? null : await known.load(before[at] ?? '');
  if (dashes >= 0) {
    // After -- stands a job's command: a program first, then files.
    const takesCommand = verb?.usage.some((line) => / -- [A-Z]/.test(line)) === true;
    return takesCommand ? { ...NOTHING, shell: before.length === dashes + 1 ? 'command' : 'files' } : NOTHING;
  }
  const flags: Flags = { ...GLOBAL_FLAGS, ...verb?.flags };
  const names = flagNames(flags);

  const equals = typed.startsWith('--') ? typed.indexOf('=') : -1;
  if (equals > 0) {
    const key = names.get(typed.slice(0, equals));
    return key === undefined ? NOTHING : ofFlag(key, flags, typed.slice(equals + 1), typed.slice(0, equals + 1));
  }
  const previous = names.get(before.at(-1) ?? '');
  if (previous !== undefined && flags[previous]?.value !== null) return ofFlag(previous, flags, typed, '');

  if (typed.startsWith('-')) {
    const candidates = [...names].map(([value, key]) => ({ value, says: flags[key]?.help ?? '' }));
    return { ...NOTHING, candidates };
  }
  if (verb === null) {
    // Words after an unknown verb mean nothing.
    if (at !== null) return before[at] === 'help' ? verbNames(known) : NOTHING;
    const help = { value: 'help', says: 'Everything about a verb' };
    return { ...NOTHING, candidates: [...verbNames(known).candidates, help] };
  }
  return ofWord(verb, before.slice((at ?? 0) + 1), names, flags);
}

function verbNames(known: Known): Wanted {
  return {
    ...NOTHING,
    candidates: known.verbs.flatMap(({ names, summary }) => names.map((value) => ({ value, says: summary }))),
  };
}

/** Position of the verb among complete words; null when it is still to come. */
function verbIndex(words: readonly string[]): number | null {
  const names = flagNames(GLOBAL_FLAGS);
  const flags: Flags = GLOBAL_FLAGS;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!word.startsWith('-')) return index;
    const key = names.get(word);
    if (key !== undefined && flags[key]?.value !== null) index += 1;
  }
  return null;
}

/** The value of a flag. */
function ofFlag(key: string, flags: Flags, typed: string, prefix: string): Wanted {
  const flag = flags[key];
  if (flag?.choices) {
    // A list is completed at its last part.
    const list = flag.value?.includes(',') === true ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
    return { ...NOTHING, prefix: prefix + list, candidates: flag.choices.map((value) => ({ value, says: '' })) };
  }
  if (key === 'lane') return { ...NOTHING, prefix, from: 'lanes' };
  if (key === 'needs' || key === 'job') {
    return { ...NOTHING, prefix: prefix + typed.slice(0, typed.lastIndexOf(',') + 1), from: 'jobs' };
  }
  if (FOLDERS.has(key)) return { ...NOTHING, prefix, shell: 'folders' };
  if (key === 'from') return { ...NOTHING, prefix, shell: 'files' };
  return { ...NOTHING, prefix };
}

/** A word of the verb that is no flag. */
function ofWord(verb: Verb, before: readonly string[], names: Map<string, string>, flags: Flags): Wanted {
  const words: string[] = [];
  for (let index = 0; index < before.length; index++) {
    const word = before[index] ?? '';
    if (!word.startsWith('-')) words.push(word);
    else if (flags[names.get(word) ?? '']?.value !== null && !word.includes('=')) index += 1;
  }
  if (verb.subwords && words.length === 0) {
    return { ...NOTHING, candidates: verb.subwords.map((value) => ({ value, says: '' })) };
  }
  if (verb.name === 'lanes') return words.length === 1 ? { ...NOTHING, from: 'lanes' } : NOTHING;
  if (verb.name === 'workspaces') return { ...NOTHING, shell: 'folders' };
  const from = JOBS[verb.name];
  return from === undefined ? NOTHING : { ...NOTHING, from };
}
