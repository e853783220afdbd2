/**
 * Errors cross every boundary as code + message + hint; the exit status is derived at the
 * CLI's edge. A message says what happened and names the value and the limit; the hint says
 * what to do.
 */

export const ERROR_CODES = [
  'INVALID_INPUT',
  'NOT_FOUND',
  'CONFLICT',
  'KEY_CONFLICT',
  'REFUSED',
  'ENVIRONMENT',
  'SCHEMA_NEWER',
  'CORRUPT',
  'TIMEOUT',
  'VERSION_MISMATCH',
  'INTERNAL',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Exit statuses of `lane` by error code (0 ok, 6 an awaited job not done, 130 interrupted apart). */
export const EXIT_STATUS: Readonly<Record<ErrorCode, number>> = {
  INVALID_INPUT: 1,
  REFUSED: 2,
  ENVIRONMENT: 3,
  SCHEMA_NEWER: 3,
  CORRUPT: 3,
  VERSION_MISMATCH: 3,
  INTERNAL: 3,
  TIMEOUT: 4,
  CONFLICT: 5,
  KEY_CONFLICT: 5,
  NOT_FOUND: 5,
};

/** The wire and JSON form of an error. */
export interface ErrorData {
  code: ErrorCode;
  message: string;
  hint: string | null;
}

export class LanewayError extends Error {
  override readonly name = 'LanewayError';
  readonly code: ErrorCode;
  readonly hint: string | null;

  constructor(code: ErrorCode, message: string, hint: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.hint = hint;
  }

  toData(): ErrorData {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

/** JSON-RPC error number of every Laneway error; the code that matters is in `error.data`. */
export const RPC_ERROR = -32_050;

/** Whatever was thrown, as data fit for a user: an unknown error keeps its message, never its stack. */
export function toErrorData(error: unknown): ErrorData {
  // By its shape: an error may come from another bundle, whose class is not ours.
  if (isErrorData(error)) return { code: error.code, message: error.message, hint: error.hint ?? null };
  // The server's code run in this process is another bundle, with a class of its own.
  if (error instanceof Error && error.name === 'LanewayError' && isErrorData(error)) {
    return { code: error.code, message: error.message, hint: error.hint ?? null };
  }
  const data = (error as { data?: unknown } | null)?.data;
  if (isErrorData(data)) return data;
  const message = error instanceof Error ? error.message : String(error);
  const refusal = refusalOf(error);
  if (refusal === null) return { code: 'INTERNAL', message, hint: null };
  const [what, hint] = REFUSALS[refusal] ?? [null, null];
  return { code: 'ENVIRONMENT', message: what === null ? message : `${what} (${message})`, hint };
}

const ELSEWHERE = 'Make it writable, or point LANEWAY_HOME to another place';
const CLOSE = 'Close some programs, or raise the limit, and try again';

/** What people meet most, in words: what it is, and what to do. */
const REFUSALS: Readonly<Record<string, [what: string, hint: string]>> = {
  ENOSPC: ['the disk is full', 'Free some space and try again'],
  EDQUOT: ['the disk quota is used up', 'Free some space and try again'],
  EROFS: ['the file system is read-only', ELSEWHERE],
  EACCES: ['access is denied', ELSEWHERE],
  EMFILE: ['too many files are open', CLOSE],
  ENFILE: ['too many files are open on this machine', CLOSE],
};

/** The name of the operating system's refusal, such as a full disk or a missing permission; null for any other error. */
function refusalOf(error: unknown): string | null {
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return typeof syscall === 'string' && typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/** An error made of its wire form. */
export function fromErrorData(data: ErrorData): LanewayError {
  return new LanewayError(data.code, data.message, data.hint);
}

/** Whether a value is the wire form of an error. */
export function isErrorData(value: unknown): value is ErrorData {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message } = value as Record<string, unknown>;
  return typeof message === 'string' && (ERROR_CODES as readonly unknown[]).includes(code);
}
