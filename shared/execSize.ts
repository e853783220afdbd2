/** Whether the system could start a program with this argv and environment: found out at add, not at run. */
import { MAX_EXEC_STRING, MAX_EXEC_TOTAL } from './limits.ts';
import { quoteArgv } from './shell.ts';
import { quoteValue } from './text.ts';

/** Bytes kept free for what the worker adds: LANEWAY_* and the front of PATH. */
const EXEC_RESERVE = 16_384;
/** Bytes of argv and environment together on macOS (ARG_MAX). */
const DARWIN_TOTAL = 1_048_576;
/** UTF-16 units of a Windows command line, its end included. */
const WINDOWS_COMMAND_LINE = 32_767;
/** Each string costs its bytes, a NUL and a pointer. */
const STRING_COST = 9;

/**
 * The reason why exec would fail with E2BIG, as an error's message and hint; null when it would not.
 * `env` is the environment as the job will have it, without what the worker adds.
 */
export function execProblem(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform,
): { message: string; hint: string } | null {
  if (platform === 'win32') return windowsProblem(argv);
  let total = EXEC_RESERVE;
  for (const [index, arg] of argv.entries()) {
    const bytes = Buffer.byteLength(arg);
    if (bytes >= MAX_EXEC_STRING) {
      return {
        message: `argv[${index}] has ${bytes} bytes; an argument must be shorter than ${MAX_EXEC_STRING} bytes`,
        hint: 'Pass it in a file.',
      };
    }
    total += bytes + STRING_COST;
  }
  for (const [name, value] of Object.entries(env)) {
    const bytes = Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
    if (bytes >= MAX_EXEC_STRING) {
      return {
        message: `environment variable ${quoteValue(name)} has ${bytes} bytes; NAME=VALUE must be shorter than ${MAX_EXEC_STRING} bytes`,
        hint: 'Unset it, or add the job with --clean-env.',
      };
    }
    total += bytes + STRING_COST;
  }
  const limit = platform === 'darwin' ? DARWIN_TOTAL : MAX_EXEC_TOTAL;
  if (total <= limit) return null;
  return {
    message: `arguments and environment together need ${total} bytes; the system allows ${limit}`,
    hint: 'Pass arguments in a file, or add the job with --clean-env.',
  };
}

function windowsProblem(argv: readonly string[]): { message: string; hint: string } | null {
  const units = quoteArgv(argv, 'win32').length + 1;
  if (units <= WINDOWS_COMMAND_LINE) return null;
  return {
    message: `the command line has ${units} characters; Windows allows ${WINDOWS_COMMAND_LINE}`,
    hint: 'Pass arguments in a file.',
  };
}
