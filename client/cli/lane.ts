/**
 * `lane` itself: finds the verb, parses its flags, runs it, and turns whatever comes of it into
 * output and an exit status. Loaded by the bootstrap once the runtime is known to be good enough.
 */
import { escapeControls, quoteValue } from '../../shared/text.ts';
import { EXIT_STATUS, type LanewayError, toErrorData } from '../../shared/errors.ts';
import { didYouMean, invalid, keyOf, parseArgs, type Flags, type Parsed } from './args.ts';
import { type Io, makeContext } from './context.ts';
import { writeAll } from './output.ts';
import { GLOBAL_FLAGS, OutputClosed, type Verb } from './verb.ts';
import { VERBS, loadVerb, verbName } from './verbs/index.ts';
import { VERSION } from './version.ts';

/** Runs one command line (without node and script). Returns the exit status; never rejects. */
export async function lane(argv: readonly string[], io: Io): Promise<number> {
  let verb: Verb | null = null;
  try {
    const { before, word, after } = splitAtVerb(argv);
    const name = word === null ? 'status' : word === 'help' ? 'help' : verbName(word);
    if (name === null) throw unknownVerb(word ?? '');
    if (name === 'help') return await help(after.find((one) => !one.startsWith('-')) ?? null, io);
    verb = await loadVerb(name);
    const parsed = parseArgs({ ...GLOBAL_FLAGS, ...verb.flags }, [...before, ...after]);
    const { help: wantsHelp, version, json, direct, workspace } = parsed.flags;
    if (version) {
      writeAll(1, json ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`);
      return 0;
    }
    if (wantsHelp) return await help(word === null ? null : name, io);
    const context = makeContext(io, { json, direct, workspace });
    try {
      return await verb.run(context, parsed as Parsed);
    } finally {
      await context.close();
    }
  } catch (error) {
    return report(error, argv, verb);
  }
}

/** The verb is the first word that is neither a global flag nor such a flag's value. */
function splitAtVerb(argv: readonly string[]): { before: string[]; word: string | null; after: string[] } {
  const flags: Flags = GLOBAL_FLAGS;
  let index = 0;
  for (; index < argv.length; index++) {
    const arg = argv[index]!;
    if (!arg.startsWith('-') || arg === '--') break;
    const key = keyOf(flags, arg);
    if (key !== null && flags[key]?.value !== null) index += 1;
  }
  const word = argv[index] ?? null;
  if (word === null || word === '--') return { before: argv.slice(0, index), word: null, after: argv.slice(index) };
  return { before: argv.slice(0, index), word, after: argv.slice(index + 1) };
}

async function help(word: string | null, io: Io): Promise<number> {
  const { overview, verbHelp } = await import('./help.ts');
  const context = makeContext(io, { json: false, direct: false, workspace: null });
  if (word === null) {
    writeAll(1, await overview(context.terminal()));
    return 0;
  }
  const name = verbName(word);
  if (name === null) throw unknownVerb(word);
  writeAll(1, verbHelp(await loadVerb(name), context.terminal()));
  return 0;
}

function unknownVerb(word: string): LanewayError {
  const known = Object.entries(VERBS).flatMap(([name, { aliases = [], hidden }]) => (hidden ? [] : [name, ...aliases]));
  return invalid(`${quoteValue(word)} is no verb of lane`, didYouMean(word, known) ?? 'Run "lane help" for all verbs.');
}

/** Prints an error for whoever asked, and returns the exit status. */
function report(error: unknown, argv: readonly string[], verb: Verb | null): number {
  // Nobody is left to read, and that is no fault of ours.
  if (error instanceof OutputClosed) return 0;
  const data = toErrorData(error);
  const end = argv.indexOf('--');
  const json = (end < 0 ? argv : argv.slice(0, end)).includes('--json');
  const text = json
    ? JSON.stringify({ error: data })
    : [`lane: ${oneLine(data.message)}`, ...(data.hint === null ? [] : [`  ${oneLine(data.hint)}`])].join('\n');
  try {
    writeAll(2, `${text}\n`);
  } catch {
    // stderr is closed as well.
  }
  return verb?.ownFailure ?? EXIT_STATUS[data.code];
}

function oneLine(text: string): string {
  return escapeControls(text.replaceAll(/\s*\n\s*/g, ' '));
}
