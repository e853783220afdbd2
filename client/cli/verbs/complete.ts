/**
 * What the completion scripts ask. Never an error and never a new server: a shell that completes must
 * neither wait nor be told why there is nothing to offer.
 */
import { List, Lanes, type Params } from '../../../shared/protocol.ts';
import { escapeControls } from '../../../shared/text.ts';
import { type Candidate, type Known, type Wanted, wanted } from '../completion/candidates.ts';
import { wordsOf } from '../completion/words.ts';
import { title } from '../render/words.ts';
import { verb, type Context } from '../verb.ts';
import { VERBS, loadVerb, verbName } from './index.ts';

/** Job ids offered: more is no help to anybody. */
const OFFERED = 50;

const KINDS: Readonly<Record<'live' | 'waiting' | 'dead' | 'jobs', Params<typeof List>>> = {
  live: { states: ['blocked', 'queued', 'running'] },
  waiting: { states: ['blocked', 'queued'] },
  dead: { states: ['failed', 'running'] },
  jobs: {},
};

export default verb({
  name: '__complete',
  summary: 'Candidates for the word at the cursor, for completion scripts',
  usage: ['lane __complete SHELL -- WORDS…'],
  flags: {},
  examples: [],
  async run(context, { words, rest }) {
    const given = givenWords(words[0], rest ?? []);
    const asked = await wanted(given.length === 0 ? [''] : given, await knownVerbs());
    const typed = (given.at(-1) ?? '').slice(asked.prefix.length);
    const found = asked.from === null ? asked.candidates : await fetched(context, asked.from);
    const lines = found
      .filter(({ value }) => value.startsWith(typed))
      .map(({ value, says }) => `${asked.prefix}${value}${says === '' ? '' : `\t${escapeControls(says)}`}`);
    if (asked.shell !== null) lines.push(`:${asked.shell}`);
    if (lines.length > 0) context.out(`${lines.join('\n')}\n`);
    return 0;
  },
});

/** The words up to the cursor, as each shell can hand them over: bash its line, PowerShell with a dot before the last. */
function givenWords(shell: string | undefined, rest: readonly string[]): readonly string[] {
  if (shell === 'bash') return wordsOf(rest[0] ?? '').slice(1);
  return shell === 'powershell' ? [...rest.slice(0, -1), (rest.at(-1) ?? '').slice(1)] : rest;
}

async function knownVerbs(): Promise<Known> {
  const names = Object.keys(VERBS).filter((name) => VERBS[name]?.hidden !== true);
  const verbs = await Promise.all(names.map(loadVerb));
  return {
    verbs: verbs.map(({ name, aliases = [], summary }) => ({ names: [name, ...aliases], summary })),
    async load(word) {
      const name = verbName(word);
      return name === null ? null : loadVerb(name);
    },
  };
}

async function fetched(context: Context, from: NonNullable<Wanted['from']>): Promise<Candidate[]> {
  try {
    if (from === 'lanes') {
      const { lanes } = await context.request(Lanes, null, { start: false });
      return lanes.map(({ name, paused }) => ({ value: name, says: paused ? 'paused' : '' }));
    }
    const { jobs } = await context.request(List, { ...KINDS[from], limit: OFFERED }, { start: false });
    const labels = new Map(jobs.filter(({ label }) => label !== null).map((job) => [`label:${job.label}`, job]));
    return [
      ...jobs.map((job) => ({ value: String(job.id), says: `${job.phase} ${title(job)}` })),
      ...(jobs.length > 0 ? [{ value: 'last', says: 'the newest job' }] : []),
      // A label with spaces or controls is not worth the quoting that each shell would want.
      ...[...labels]
        .filter(([value]) => /^[\w:.@/+-]+$/.test(value))
        .map(([value, job]) => ({ value, says: `job ${job.id}` })),
    ];
  } catch {
    return [];
  }
}
