/**
 * SQLite's errors as a user can meet them. Which family an error belongs to decides what happens to
 * the queue: a busy database is tried again, trouble of the machine is told and survived, and only
 * damage sets a database aside.
 */
import { LanewayError } from '../../shared/errors.ts';

export type Trouble = 'busy' | 'environment' | 'damaged' | 'other';

/** SQLite's code of an error, e.g. `SQLITE_BUSY_SNAPSHOT`; null for anything else. */
function sqliteCode(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : null;
}

/** Primary codes by family; extended codes (`SQLITE_IOERR_WRITE`) follow their primary one. */
const FAMILIES: readonly [prefix: string, trouble: Trouble][] = [
  ['SQLITE_BUSY', 'busy'],
  ['SQLITE_LOCKED', 'busy'],
  ['SQLITE_CORRUPT', 'damaged'],
  ['SQLITE_NOTADB', 'damaged'],
  ['SQLITE_FULL', 'environment'],
  ['SQLITE_IOERR', 'environment'],
  ['SQLITE_READONLY', 'environment'],
  ['SQLITE_CANTOPEN', 'environment'],
  ['SQLITE_PERM', 'environment'],
  ['SQLITE_AUTH', 'environment'],
  ['SQLITE_NOMEM', 'environment'],
  ['SQLITE_NOLFS', 'environment'],
  ['SQLITE_PROTOCOL', 'busy'],
];

/** What kind of trouble an error is. */
export function troubleOf(error: unknown): Trouble {
  const code = sqliteCode(error);
  if (code === null) return 'other';
  return FAMILIES.find(([prefix]) => code === prefix || code.startsWith(`${prefix}_`))?.[1] ?? 'other';
}

export const isBusy = (error: unknown): boolean => troubleOf(error) === 'busy';

/** An error of SQLite or of the file system in the words of {@link LanewayError}; ours pass through. */
export function toStoreError(error: unknown, file: string): LanewayError {
  if (error instanceof LanewayError) return error;
  const options = { cause: error };
  const found = (error as { code?: unknown } | null)?.code;
  const code = typeof found === 'string' ? found : '';
  const text = error instanceof Error ? error.message : String(error);
  switch (troubleOf(error)) {
    case 'busy':
      return new LanewayError(
        'ENVIRONMENT',
        `another process keeps the queue's database ${file} locked (${code})`,
        'end the program that holds it (a database browser, a backup), then try again',
        options,
      );
    case 'damaged':
      return new LanewayError(
        'CORRUPT',
        `the queue's database ${file} is damaged (${code}: ${text})`,
        'run `lane doctor --deep`; restarting the server sets a damaged database aside and starts a new one',
        options,
      );
    case 'environment':
      return environment(code, file, text, options);
    case 'other':
      break;
  }
  if (/^(EACCES|EPERM|EROFS|ENOSPC|EDQUOT|EIO|EMFILE|ENFILE|ENOTDIR|ENOENT|EEXIST)$/.test(code)) {
    return environment(code, file, text, options);
  }
  return new LanewayError('INTERNAL', text, null, options);
}

function environment(code: string, file: string, text: string, options: ErrorOptions): LanewayError {
  const [what, hint] = wordsFor(code);
  return new LanewayError('ENVIRONMENT', `${what}: ${file} (${code}: ${text})`, hint, options);
}

function wordsFor(code: string): [what: string, hint: string] {
  // The last one: no room for the file that readers and writers share.
  if (/FULL|ENOSPC|EDQUOT|SHMSIZE/.test(code)) {
    return ['the disk is full, nothing was changed', 'Free some space and try again; the queue is intact'];
  }
  if (/READONLY|EROFS/.test(code)) {
    return ['the queue cannot be written', 'Make its folder writable, or point LANEWAY_HOME to one that is'];
  }
  if (/CANTOPEN|PERM|AUTH|EACCES|ENOTDIR|ENOENT|EEXIST/.test(code)) {
    return ['the queue cannot be opened', 'Check the permissions of its folder, or point LANEWAY_HOME to another'];
  }
  if (/NOMEM|MFILE|NFILE/.test(code)) {
    return ['the machine is out of memory or open files', 'Close some programs and try again'];
  }
  return [
    'the disk could not be read or written',
    'Check the disk and its free space, or point LANEWAY_HOME to another disk',
  ];
}
