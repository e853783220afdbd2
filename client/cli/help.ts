/** Help as text, made of what the verbs declare about themselves. */
import { displayWidth, pad } from '../../shared/text.ts';
import { flagNames, type Flag, type Flags } from './args.ts';
import { paint, type View } from './render/view.ts';
import { GLOBAL_FLAGS, type Terminal, type Verb } from './verb.ts';
import { VERBS, loadVerb } from './verbs/index.ts';

/** Help is read, not measured: lines never grow longer than this, however wide the terminal. */
const WIDTH = 80;

const EXIT_STATUSES: readonly (readonly [string, string])[] = [
  ['0', 'ok'],
  ['1', 'bad input or usage'],
  ['2', 'refused for safety'],
  ['3', 'environment: no server, disk full, damaged or newer database'],
  ['4', 'timed out'],
  ['5', 'conflict with the present state, not found included'],
  ['6', 'an awaited job did not end done'],
  ['130', 'interrupted'],
];

/** All verbs with their summaries. */
export async function overview(terminal: Terminal): Promise<string> {
  const view = viewFor(terminal);
  const names = Object.keys(VERBS).filter((name) => VERBS[name]?.hidden !== true);
  const verbs = await Promise.all(names.map(loadVerb));
  return text([
    'lane: a local job queue for one workspace. A job is a command; a lane is a queue.',
    '',
    heading('Usage', view),
    '  lane                     how things stand',
    '  lane add -- npm test     queue a command',
    '  lane run -- npm test     queue it, show its output, exit with its status',
    '  lane help VERB           everything about a verb, with examples',
    '',
    heading('Verbs', view),
    ...pairs(
      verbs.map((verb) => [[verb.name, ...(verb.aliases ?? [])].join(', '), verb.summary]),
      view,
    ),
    '',
    heading('Flags of every verb', view),
    ...pairs(flagPairs(GLOBAL_FLAGS), view),
    '',
    heading('Exit status', view),
    ...pairs(EXIT_STATUSES, view),
  ]);
}

/** One verb: usage, details, flags, examples. */
export function verbHelp(verb: Verb, terminal: Terminal): string {
  const view = viewFor(terminal);
  const lines = [`${verb.summary}.`, '', heading('Usage', view), ...verb.usage.map((line) => `  ${line}`)];
  for (const detail of verb.details ?? []) lines.push('', ...wrap(detail, WIDTH));
  if (verb.aliases && verb.aliases.length > 0) lines.push('', `Also written: lane ${verb.aliases.join(', lane ')}`);
  const own = flagPairs(verb.flags);
  if (own.length > 0) lines.push('', heading('Flags', view), ...pairs(own, view));
  lines.push('', heading('Flags of every verb', view), ...pairs(flagPairs(GLOBAL_FLAGS), view));
  lines.push('', heading('Examples', view));
  for (const { line, says } of verb.examples) lines.push(`  ${line}`, `      ${paint(view, 'dim', says)}`);
  return text(lines);
}

/** Each flag as it is written, with its help: `-f, --follow`, `--lane, --queue NAME`. */
function flagPairs(flags: Flags): [string, string][] {
  const names = new Map<string, string[]>();
  for (const [name, key] of flagNames(flags)) names.set(key, [...(names.get(key) ?? []), name]);
  return Object.entries(flags).map(([key, flag]) => {
    const written = (names.get(key) ?? []).sort((a, b) => Number(a.startsWith('--')) - Number(b.startsWith('--')));
    return [written.join(', ') + (flag.value === null ? '' : ` ${flag.value}`), helpOf(flag)];
  });
}

/** Few values are named; many are a matter of the verb's details. */
function helpOf(flag: Flag): string {
  const { choices = [], help } = flag;
  const unsaid = choices.length > 0 && choices.length <= 6 && !choices.every((one) => help.includes(one));
  return unsaid ? `${help} (${choices.join(', ')})` : help;
}

/** Names and sayings in two columns, the sayings wrapped; a long name takes a line of its own. */
function pairs(entries: readonly (readonly [string, string])[], view: View): string[] {
  const left = Math.min(26, Math.max(...entries.map(([name]) => displayWidth(name))));
  return entries.flatMap(([name, saying]) => {
    const lines = wrap(saying, WIDTH - left - 4);
    const shown = paint(view, 'bold', name);
    if (displayWidth(name) > left) return [`  ${shown}`, ...lines.map((line) => ' '.repeat(left + 4) + line)];
    const filled = pad(name, left).replace(name, () => shown);
    return lines.map((line, index) => (index === 0 ? `  ${filled}  ${line}` : ' '.repeat(left + 4) + line));
  });
}

function wrap(saying: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of saying.split(' ')) {
    if (line !== '' && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

function heading(name: string, view: View): string {
  return paint(view, 'bold', name);
}

function viewFor({ colour }: Terminal): View {
  return { width: WIDTH, colour, now: 0 };
}

function text(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
