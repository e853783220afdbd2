/**
 * The batch form of `add`: one JSON object a line, with the flags' names in camelCase and the
 * flags' own parsers, so that a value means the same in both forms. Errors name the line.
 */
import fs from 'node:fs';
import { nearest } from '../../shared/check.ts';
import { LanewayError } from '../../shared/errors.ts';
import type { AddRequest } from '../../shared/job.ts';
import { MAX_BATCH } from '../../shared/limits.ts';
import { quoteValue } from '../../shared/text.ts';
import { commonRequest, JOB_FLAGS, type JobFlags } from './addFlags.ts';
import { invalid, parsePair } from './args.ts';
import type { Context } from './verb.ts';

/** Bytes of a batch: what one message to the server may hold, with room for the environment. */
const MAX_BYTES = 50_331_648;
const WAIT = new Int32Array(new SharedArrayBuffer(4));

type Fields = Record<string, unknown>;
type Need = number | string | { line: number };
type BatchContext = Pick<Context, 'cwd' | 'now'>;

/** What a line may hold besides `argv`; the flag that speaks for the whole request is missing. */
const KEYS = Object.keys(JOB_FLAGS).filter((key) => key !== 'cleanEnv');
const OTHER_NAMES: Readonly<Record<string, string>> = { queue: 'lane', tags: 'tag' };

/**
 * Reads and parses a batch. Flags given beside it are defaults for every line.
 * @param file a path, or `-` for stdin
 * @throws LanewayError INVALID_INPUT, ENVIRONMENT when the file cannot be read
 */
export function readBatch(file: string, flags: JobFlags, context: BatchContext): Batch {
  const text = file === '-' ? readStdin() : readFile(file);
  return { jobs: parseBatch(text, flags, context), lines: linesOf(text).map(({ number }) => number) };
}

export interface Batch {
  jobs: AddRequest[];
  /** The line of each job, from 1. */
  lines: number[];
}

/** What the server says of its Nth job, said of the line that holds it. */
export function ofLine(error: unknown, { lines }: Batch): unknown {
  if (!(error instanceof LanewayError)) return error;
  const message = error.message.replace(/^line (\d+):/, (_, nth) => `line ${lines[Number(nth) - 1] ?? nth}:`);
  return new LanewayError(error.code, message, error.hint);
}

/** The lines that hold something; a person counts the others too. */
function linesOf(text: string): { line: string; number: number }[] {
  return text
    .replace(/^\ufeff/, '')
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '');
}

/** {@link readBatch} on text that was read already. */
export function parseBatch(text: string, flags: JobFlags, context: BatchContext): AddRequest[] {
  if (flags.key !== null) throw invalid('--key names one job; --from queues several', 'Give "key" in the lines.');
  const lines = linesOf(text);
  if (lines.length === 0) throw invalid('The batch holds no job', 'Give one JSON object a line.');
  if (lines.length > MAX_BATCH) {
    throw invalid(`The batch holds ${lines.length} jobs, where ${MAX_BATCH} are allowed`, 'Split it.');
  }
  const places = new Map(lines.map(({ number }, index) => [number, index + 1]));
  return lines.map(({ line, number }) => {
    try {
      const request = parseLine(line, flags, context);
      return request.needs ? { ...request, needs: request.needs.map((need) => placed(need, number, places)) } : request;
    } catch (error) {
      if (!(error instanceof LanewayError)) throw error;
      throw new LanewayError(error.code, `Line ${number}: ${error.message}`, error.hint);
    }
  });
}

/** A line named as in the text, as the server counts: jobs. */
function placed(need: Need, own: number, places: ReadonlyMap<number, number>): Need {
  if (typeof need !== 'object') return need;
  const line = need.line < own ? places.get(need.line) : undefined;
  if (line !== undefined) return { line };
  throw invalid(
    need.line < own ? `needs: line ${need.line} holds no job` : `needs: line ${need.line} is no earlier line`,
    'Name a line above this one.',
  );
}

function parseLine(line: string, defaults: JobFlags, context: BatchContext): AddRequest {
  const fields = readObject(line);
  const { argv, ...rest } = fields;
  const own: Record<string, unknown> = {};
  let needs: Need[] | null = null;
  for (const [name, value] of Object.entries(rest)) {
    const key = OTHER_NAMES[name] ?? name;
    if (!KEYS.includes(key)) {
      const near = nearest(name, ['argv', ...KEYS]);
      throw invalid(
        `unknown field ${quoteValue(name)}`,
        near === null ? `Known are argv, ${KEYS.join(', ')}.` : `Did you mean "${near}"?`,
      );
    }
    if (value === null || value === undefined) continue;
    if (key === 'needs') needs = readNeeds(value);
    else own[key] = readValue(key, value);
  }
  const given = own as Partial<JobFlags>;
  const flags: JobFlags = {
    ...defaults,
    // The two exclude each other: a line's own choice replaces either default.
    ...(given.after || given.at ? { after: null, at: null } : {}),
    ...given,
    env: [...defaults.env, ...(given.env ?? [])],
    tag: [...defaults.tag, ...(given.tag ?? [])],
  };
  if (argv !== undefined && given.command) throw invalid('both "argv" and "command" are given', 'Give one of the two.');
  if (argv === undefined && !given.command)
    throw invalid('there is neither "argv" nor "command"', 'Give one of the two.');
  return {
    ...commonRequest(flags, context),
    ...(needs === null ? {} : { needs }),
    ...(given.command ? { command: given.command } : { argv: readArgv(argv) }),
  };
}

function readObject(line: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw invalid(`not JSON (${(error as Error).message})`, 'Give one JSON object a line, such as {"argv":["make"]}.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw invalid(`${quoteValue(value)} is no object`, 'Give one JSON object a line, such as {"argv":["make"]}.');
}

function readArgv(value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) return value;
  throw invalid(`"argv" ${quoteValue(value)} is no list of texts`, 'Give the program and its arguments.');
}

/** One field through its flag's parser. */
function readValue(key: string, value: unknown): unknown {
  const flag = JOB_FLAGS[key as keyof typeof JOB_FLAGS];
  if (flag.value === null) {
    if (typeof value === 'boolean') return value;
    throw invalid(`"${key}" ${quoteValue(value)} is neither true nor false`);
  }
  if (key === 'env' || key === 'tag') return readPairs(key, value);
  const plain = typeof value === 'string' || (typeof value === 'number' && (flag.value === 'N' || flag.value === 'D'));
  if (!plain) throw invalid(`"${key}" ${quoteValue(value)} is not what it should be`, flag.help);
  try {
    return flag.parse(String(value));
  } catch (error) {
    if (!(error instanceof LanewayError)) throw error;
    throw new LanewayError(error.code, `"${key}": ${error.message}`, error.hint);
  }
}

function readPairs(key: string, value: unknown): [string, string][] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.map(parsePair);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const pairs = Object.entries(value);
    if (pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string')) return pairs;
  }
  throw invalid(`"${key}" ${quoteValue(value)} is no object of texts`, 'Give {"NAME":"VALUE"}.');
}

function readNeeds(value: unknown): Need[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((one): Need[] => {
    if (typeof one === 'number') return [one];
    if (typeof one === 'string') return JOB_FLAGS.needs.parse(one);
    if (typeof one === 'object' && one !== null && typeof (one as Fields)['line'] === 'number')
      return [one as { line: number }];
    throw invalid(
      `"needs" ${quoteValue(one)} is no job`,
      'Give ids, "last" or "label:NAME", or {"line":N} for an earlier line.',
    );
  });
}

function readFile(file: string): string {
  try {
    const { size } = fs.statSync(file);
    if (size > MAX_BYTES) throw tooLarge();
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof LanewayError) throw error;
    throw invalid(
      `--from: ${quoteValue(file)} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      'Name a file, or - for stdin.',
    );
  }
}

function readStdin(): string {
  const chunks: Buffer[] = [];
  let held = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    let bytes: number;
    try {
      bytes = fs.readSync(0, chunk);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN') {
        Atomics.wait(WAIT, 0, 0, 5);
        continue;
      }
      // Windows reports the end of a pipe so.
      if (code === 'EOF') bytes = 0;
      else throw invalid(`--from -: stdin cannot be read (${code})`, 'Pipe the batch into it.');
    }
    if (bytes === 0) return Buffer.concat(chunks, held).toString('utf8');
    chunks.push(chunk.subarray(0, bytes));
    held += bytes;
    if (held > MAX_BYTES) throw tooLarge();
  }
}

function tooLarge(): LanewayError {
  return invalid(`The batch is larger than ${MAX_BYTES / 1_048_576} MiB`, 'Split it.');
}
