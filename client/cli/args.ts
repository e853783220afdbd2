/**
 * Flags of `lane`: declared once by each verb, parsed here, and read again by help and
 * completion. Pure: no environment, no output. Kept small, because every `lane add` loads it.
 *
 * A flag's key is its name in camelCase (`retryDelay` is written `--retry-delay`); the batch
 * form of `add` uses the same keys and the same value parsers.
 */
import { nearest } from '../../shared/check.ts';
import { parseDuration } from '../../shared/duration.ts';
import { LanewayError } from '../../shared/errors.ts';
import { escapeControls, quoteValue, truncate } from '../../shared/text.ts';

/** One flag. `T` is the type of one parsed value. */
export interface Flag<T = unknown> {
  /** The word for the value in help (`NAME`, `D`); null for a switch, which takes none. */
  readonly value: string | null;
  /** One line for help, without a full stop. */
  readonly help: string;
  /** Turns the text into the value. @throws LanewayError INVALID_INPUT without the flag's name. */
  readonly parse: (text: string) => T;
  /** May be given several times; values are collected in order. */
  readonly many?: boolean;
  /** One letter, written `-f`. */
  readonly short?: string;
  /** Other long names in camelCase. */
  readonly aliases?: readonly string[];
  /** The only values, for help and completion. */
  readonly choices?: readonly string[];
}
export type Flags = Readonly<Record<string, Flag>>;

interface Extra {
  readonly short?: string;
  readonly aliases?: readonly string[];
}
/** A flag that may be repeated. */
export type ManyFlag<T> = Flag<T> & { readonly many: true };
/** A flag without a value. */
export type Switch = Flag<true> & { readonly value: null };

/** What parsing gives for each flag: switches are booleans, repeatable ones arrays, others value or null. */
export type Values<F extends Flags> = {
  [K in keyof F]: F[K] extends { value: null }
    ? boolean
    : F[K] extends { many: true; parse: (text: string) => infer T }
      ? T[]
      : F[K] extends { parse: (text: string) => infer T }
        ? T | null
        : never;
};

export interface Parsed<F extends Flags = Flags> {
  readonly flags: Values<F>;
  /** What stood before `--` and is no flag. */
  readonly words: string[];
  /** What stood after `--`, untouched; null without `--`. */
  readonly rest: string[] | null;
}

export function toggle(help: string, extra: Extra = {}): Switch {
  return { value: null, help, parse: () => true, ...extra };
}

export function text(value: string, help: string, extra: Extra = {}): Flag<string> {
  return { value, help, parse: (given) => given, ...extra };
}

/** A flag whose value `parse` understands; `parse` throws INVALID_INPUT on anything else. */
export function parsed<T>(value: string, help: string, parse: (text: string) => T, extra: Extra = {}): Flag<T> {
  return { value, help, parse, ...extra };
}

export function many<T>(flag: Flag<T>): ManyFlag<T> {
  return { ...flag, many: true };
}

/** A whole number within bounds, both inclusive. */
export function whole(value: string, help: string, min: number, max: number, extra: Extra = {}): Flag<number> {
  return { value, help, parse: (given) => parseWhole(given, min, max), ...extra };
}

/** A span of time, in milliseconds. */
export function duration(help: string, extra: Extra = {}): Flag<number> {
  return { value: 'D', help, parse: (given) => parseDuration(given, { what: 'the value' }), ...extra };
}

export function choice<T extends string>(help: string, choices: readonly T[], value: string): Flag<T> {
  return { value, help, choices, parse: (given) => parseChoice(given, choices) };
}

export function parseWhole(given: string, min: number, max: number): number {
  const number = /^[+-]?\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isNaN(number) || number < min || number > max) {
    throw invalid(`${quoteValue(given)} is no whole number from ${min} to ${max}`);
  }
  return number;
}

export function parseChoice<T extends string>(given: string, choices: readonly T[]): T {
  const found = choices.find((one) => one === given);
  if (found === undefined) {
    throw invalid(`${quoteValue(given)} is none of ${choices.join(', ')}`, didYouMean(given, choices));
  }
  return found;
}

/** `K=V`; the first `=` divides. */
export function parsePair(given: string): [string, string] {
  const at = given.indexOf('=');
  if (at < 1) throw invalid(`${quoteValue(given)} is not NAME=VALUE`);
  return [given.slice(0, at), given.slice(at + 1)];
}

/** `a,b,c` without empty parts. */
export function parseList(given: string): string[] {
  const parts = given.split(',').map((part) => part.trim());
  if (parts.includes('')) throw invalid(`${quoteValue(given)} has an empty part`);
  return parts;
}

/** `retryDelay` → `--retry-delay`. */
export function written(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * Parses what follows the verb. The first `--` ends the flags.
 * @throws LanewayError INVALID_INPUT naming the flag, with the nearest known flag as hint.
 */
export function parseArgs<F extends Flags>(flags: F, args: readonly string[]): Parsed<F> {
  const values: Record<string, unknown> = {};
  for (const [key, flag] of Object.entries(flags)) values[key] = flag.value === null ? false : flag.many ? [] : null;
  const words: string[] = [];
  let rest: string[] | null = null;

  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === '--') {
      rest = args.slice(index + 1);
      break;
    }
    if (!arg.startsWith('-') || arg === '-' || /^-\d/.test(arg)) {
      words.push(arg);
      continue;
    }
    const equals = arg.indexOf('=');
    const name = equals > 0 ? arg.slice(0, equals) : arg;
    const key = keyOf(flags, name);
    if (key === null) throw unknownFlag(name, [...flagNames(flags).keys()]);
    const flag = flags[key]!;
    if (flag.value === null) {
      if (equals > 0) throw invalid(`${name} takes no value`, `Write ${name} alone.`);
      values[key] = true;
      continue;
    }
    let given: string | undefined;
    if (equals > 0) given = arg.slice(equals + 1);
    else {
      given = args[index + 1];
      if (given === undefined || given === '--' || keyOf(flags, given) !== null) {
        throw invalid(`${name} needs a value (${flag.value})`, `Write ${name}=${flag.value}.`);
      }
      index += 1;
    }
    const value = parseValue(name, flag, given);
    if (flag.many) (values[key] as unknown[]).push(value);
    else values[key] = value;
  }
  return { flags: values as Values<F>, words, rest };
}

/** Every way to write each flag (`--lane`, `--queue`, `-f`), mapped to its key. */
export function flagNames(flags: Flags): Map<string, string> {
  const names = new Map<string, string>();
  for (const [key, flag] of Object.entries(flags)) {
    // A one-letter key is written with one dash only.
    names.set(key.length === 1 ? `-${key}` : written(key), key);
    for (const alias of flag.aliases ?? []) names.set(written(alias), key);
    if (flag.short) names.set(`-${flag.short}`, key);
  }
  return names;
}

/** The key of a flag as written; null for what is none. Looks up one name instead of spelling out all. */
export function keyOf(flags: Flags, name: string): string | null {
  const letter = /^-([a-z])$/i.exec(name)?.[1];
  const key = /^--[a-z]/.test(name)
    ? name.slice(2).replace(/-([a-z])/g, (_, next: string) => next.toUpperCase())
    : letter;
  // Only the one way of writing: --retryDelay is no flag.
  if (key === undefined || /^--.*[A-Z]/.test(name)) return null;
  if (Object.hasOwn(flags, key) && (letter === undefined) === key.length > 1) return key;
  for (const [own, { short, aliases }] of Object.entries(flags)) {
    if (letter === undefined ? aliases?.includes(key) : short === letter) return own;
  }
  return null;
}

/** One flag's value, its errors prefixed with the flag's name. */
function parseValue<T>(name: string, flag: Flag<T>, given: string): T {
  try {
    return flag.parse(given);
  } catch (error) {
    if (!(error instanceof LanewayError)) throw error;
    throw new LanewayError(error.code, `${name}: ${error.message}`, error.hint);
  }
}

function unknownFlag(name: string, known: string[]): LanewayError {
  return invalid(
    `Unknown flag ${truncate(escapeControls(name), 60)}`,
    didYouMean(name, known) ?? 'Flags of lane stand before --, the command after it; --help lists the flags.',
  );
}

export function invalid(message: string, hint: string | null = null): LanewayError {
  return new LanewayError('INVALID_INPUT', message, hint);
}

/** "Did you mean …?" for the nearest candidate, null when none is near. */
export function didYouMean(given: string, candidates: readonly string[]): string | null {
  const found = nearest(given, candidates);
  return found === null ? null : `Did you mean ${found}?`;
}
