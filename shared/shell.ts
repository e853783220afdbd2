/**
 * Command lines as text, and argv: splitting by the quoting of a POSIX shell (or of Windows
 * programs), noticing text that only a shell can run, and quoting argv so that pasting it back
 * gives the same argv.
 *
 * The scanner is our own: a job must receive exactly the argv that was typed, so nothing may be
 * expanded, dropped or guessed, and whoever asks must learn which character needs a shell.
 */
import { LanewayError } from './errors.ts';

export interface CommandLine {
  /** The words by quoting alone; nothing is expanded. */
  argv: string[];
  /** Why only a shell runs this as typed, in words ("a pipe"); null when argv says it all. */
  shell: string | null;
}

const BLANK = /[ \t\n]/;
/** After a $ these make the shell act; a backslash may join the next line. */
const EXPANDS = /[A-Za-z0-9_{(@*#?$!\\-]/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const RESERVED = new Set('! { } [[ if then elif else fi for while until do done case esac function select'.split(' '));
/** Built into every shell, and without effect or absent as programs. */
const BUILTIN = new Set(
  '. : alias bg builtin cd command eval exec exit export fg jobs local popd pushd readonly return set shift source times trap type ulimit umask unalias unset wait'.split(
    ' ',
  ),
);
const OPERATORS: Readonly<Record<string, string>> = {
  '|': 'a pipe (|)',
  '&': 'an & between or after commands',
  ';': 'a ; between commands',
  '<': 'a redirection (<)',
  '>': 'a redirection (>)',
  '(': 'a parenthesis',
  ')': 'a parenthesis',
  '`': 'a command substitution (`)',
  '*': 'a pattern (*)',
  '?': 'a pattern (?)',
};

/**
 * Split text by POSIX shell quoting and say whether it needs a shell.
 * @throws LanewayError INVALID_INPUT for a quote that is never closed or a backslash at the end.
 */
export function parsePosix(text: string): CommandLine {
  const argv: string[] = [];
  /** The word so far; null between words. `plain`: it holds no quoted part. */
  let word: string | null = null;
  let plain = true;
  let bracket = false;
  let brace = false;
  let shell: string | null = null;
  const because = (reason: string): void => {
    shell ??= reason;
  };
  const end = (): void => {
    if (word === null) return;
    if (argv.length === 0 && plain) {
      if (RESERVED.has(word)) because(`the shell word ${word}`);
      else if (BUILTIN.has(word)) because(`${word}, which is built into shells`);
    }
    argv.push(word);
    word = null;
    plain = true;
    bracket = false;
    brace = false;
  };
  const body = text.replace(/[ \t\n]+$/, (blanks, at: number) => (escapedAt(text, at) ? blanks.slice(0, 1) : ''));

  for (let i = 0; i < body.length; i++) {
    const char = body[i]!;
    const next = body[i + 1];
    if (BLANK.test(char)) {
      end();
      if (char === '\n' && argv.length > 0) because('more than one line');
      continue;
    }
    if (char === '\\') {
      if (next === undefined) throw unfinished('a backslash at its end', 'Remove it, or double it: \\\\.');
      i++;
      if (next === '\n') continue;
      word = (word ?? '') + next;
      plain = false;
      continue;
    }
    if (char === "'") {
      const close = body.indexOf("'", i + 1);
      if (close < 0) throw unfinished("a ' that is never closed", 'Close it, or write it as \\\' or inside "…".');
      word = (word ?? '') + body.slice(i + 1, close);
      plain = false;
      i = close;
      continue;
    }
    if (char === '"') {
      word ??= '';
      plain = false;
      for (i++; body[i] !== '"'; i++) {
        const inner = body[i];
        const after = body[i + 1];
        if (inner === undefined) throw unfinished('a " that is never closed', 'Close it, or write it as \\".');
        if (inner === '\\' && after !== undefined && '$`"\\\n'.includes(after)) {
          if (after !== '\n') word += after;
          i++;
          continue;
        }
        if (inner === '`') because('a command substitution (`)');
        if (inner === '$' && after !== undefined && EXPANDS.test(after)) because('a $ that the shell would expand');
        word += inner;
      }
      continue;
    }

    const operator = OPERATORS[char];
    if (operator !== undefined) because(operator);
    if (char === '$' && next !== undefined && (EXPANDS.test(next) || next === "'" || next === '"')) {
      because('a $ that the shell would expand');
    }
    if (char === '#' && word === null) because('a comment (#)');
    if (char === '~' && word === null) because('a ~ that the shell would expand');
    if (char === '[') bracket = true;
    if (char === ']' && bracket) because('a pattern ([…])');
    if (char === '{') brace = true;
    if (char === '}' && brace && /\{.*(?:,|\.\.)/s.test(word ?? '')) because('a brace expansion');
    if (char === '=' && argv.length === 0 && plain && ASSIGNMENT.test(`${word ?? ''}=`)) {
      because('a variable set before the command');
    }
    word = (word ?? '') + char;
  }
  end();
  return { argv, shell };
}

function unfinished(what: string, hint: string): LanewayError {
  return new LanewayError('INVALID_INPUT', `the command has ${what}`, hint);
}

/** An odd number of backslashes stands before `at`. */
function escapedAt(text: string, at: number): boolean {
  let count = 0;
  while (text[at - 1 - count] === '\\') count++;
  return count % 2 === 1;
}

/**
 * Split text as Windows programs split their command line (the C runtime's rules), and say
 * whether it needs the user's shell.
 */
export function parseWindows(text: string): CommandLine {
  const argv: string[] = [];
  let word: string | null = null;
  let quoted = false;
  let shell: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (!quoted && /[ \t\r\n]/.test(char)) {
      if (word !== null) argv.push(word);
      word = null;
      continue;
    }
    if (char === '\\') {
      let count = 1;
      while (text[i + count] === '\\') count++;
      i += count - 1;
      // Backslashes are themselves unless a quote follows: then each pair is one, and an odd one makes the quote literal.
      const beforeQuote = text[i + 1] === '"';
      word = (word ?? '') + '\\'.repeat(beforeQuote ? Math.floor(count / 2) : count);
      if (beforeQuote && count % 2 === 1) {
        word += '"';
        i++;
      }
      continue;
    }
    if (char === '"') {
      word ??= '';
      if (quoted && text[i + 1] === '"') {
        word += '"';
        i++;
      } else quoted = !quoted;
      continue;
    }
    if (!quoted && '|&<>^'.includes(char)) shell ??= `a ${char} that the shell would act on`;
    if (/^%[^%\s]+%/.test(text.slice(i, i + 260))) shell ??= 'a %variable%';
    word = (word ?? '') + char;
  }
  if (quoted) throw unfinished('a " that is never closed', 'Close it, or write it as \\".');
  if (word !== null) argv.push(word);
  if (CMD_BUILTIN.has(argv[0]?.toLowerCase() ?? '')) shell ??= `${argv[0]}, which is built into the shell`;
  return { argv, shell };
}

const CMD_BUILTIN = new Set(
  'assoc call cd chdir cls copy date del dir echo erase for if md mkdir mklink move path pause popd pushd rd rem ren rename rmdir set start time title type ver verify vol'.split(
    ' ',
  ),
);

/** `parsePosix` or `parseWindows`, by platform. */
export function parseCommandLine(text: string, platform: NodeJS.Platform): CommandLine {
  return platform === 'win32' ? parseWindows(text) : parsePosix(text);
}

/** The argv that runs shell text: `sh -c`, or the user's shell on Windows. */
export function shellArgv(text: string, platform: NodeJS.Platform, comspec?: string): string[] {
  return platform === 'win32' ? [comspec || 'cmd.exe', '/d', '/s', '/c', text] : ['sh', '-c', text];
}

const PLAIN_POSIX = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** One argument so that a POSIX shell reads back exactly it. */
export function quotePosix(arg: string): string {
  if (PLAIN_POSIX.test(arg)) return arg;
  return `'${arg.replaceAll("'", "'\\''")}'`;
}

/** One argument so that the C runtime of a Windows program reads back exactly it. */
export function quoteWindows(arg: string): string {
  if (arg !== '' && !/[\s"&|<>^%!()]/.test(arg)) return arg;
  // Only backslashes that stand before a quote, ours at the end included, need doubling.
  return `"${arg.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}

/** The argv as a command line that gives the same argv when pasted. A leading NAME= is quoted: it is no assignment. */
export function quoteArgv(argv: readonly string[], platform: NodeJS.Platform = 'linux'): string {
  if (platform === 'win32') return argv.map(quoteWindows).join(' ');
  return argv
    .map((arg, index) => {
      const special = index === 0 && (ASSIGNMENT.test(arg) || RESERVED.has(arg) || BUILTIN.has(arg));
      return special ? `'${arg.replaceAll("'", "'\\''")}'` : quotePosix(arg);
    })
    .join(' ');
}
