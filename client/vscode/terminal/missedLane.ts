/** What a terminal's command line and its exit code say of `lane`. Pure. */
import path from 'node:path';

/** A shell's exit code for a program it does not find. */
const NOT_FOUND = 127;
/** These end with their job's status, which may be the same number. */
const PASSING = /^\s*lane\s+(?:-\S+\s+)*(?:run|checkpoint)\b/;

/** Whether the shell knew no `lane`. */
export function missedLane(commandLine: string, exitCode: number | undefined): boolean {
  return exitCode === NOT_FOUND && /^\s*lane(?:\s|$)/.test(commandLine) && !PASSING.test(commandLine);
}

/** A PATH without one of its folders. */
export function withoutFolder(PATH: string, folder: string): string {
  return PATH.split(path.delimiter)
    .filter((each) => path.resolve(each) !== path.resolve(folder))
    .join(path.delimiter);
}
