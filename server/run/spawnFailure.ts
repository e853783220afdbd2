/** Why a process did not start, in words a person can act on; or that the machine was to blame. */
import { accessSync, constants, openSync, readSync, closeSync, statSync } from 'node:fs';
import path from 'node:path';

export interface SpawnFailure {
  kind: 'spawn_failed' | 'machine_trouble';
  error: string;
}

const MACHINE_TROUBLE: Readonly<Record<string, string>> = {
  EMFILE: 'too many open files in the server',
  ENFILE: 'too many open files on this machine',
  EAGAIN: 'the limit of processes is reached',
  ENOMEM: 'out of memory',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EIO: 'input/output error',
};

/** What the machine lacks, when `code` says that and not that the job is at fault. */
export function machineTrouble(code: string | undefined): string | null {
  return code === undefined ? null : (MACHINE_TROUBLE[code] ?? null);
}

export type ProgramState =
  | { kind: 'missing' }
  | { kind: 'folder' }
  | { kind: 'not_executable' }
  | { kind: 'runnable'; interpreter: string | null };

export interface SpawnFacts {
  program: string;
  cwd: string;
  cwdState: 'folder' | 'missing' | 'not_a_folder' | 'not_enterable';
  /** The file that would have run. */
  found: ProgramState;
}

/** Words for a failed start; pure. `detail` is the system's own message, for what nobody foresaw. */
export function explainSpawnFailure(code: string | undefined, detail: string, facts: SpawnFacts): SpawnFailure {
  const trouble = machineTrouble(code);
  if (trouble !== null) return { kind: 'machine_trouble', error: `cannot start a process: ${trouble} (${code})` };
  return { kind: 'spawn_failed', error: reason(code, detail, facts) };
}

function reason(code: string | undefined, detail: string, { program, cwd, cwdState, found }: SpawnFacts): string {
  if (code === 'E2BIG') return 'its arguments and environment are too large for this system (E2BIG)';
  if (cwdState === 'missing') return `its working directory does not exist: ${cwd}`;
  if (cwdState === 'not_a_folder') return `its working directory is not a folder: ${cwd}`;
  if (cwdState === 'not_enterable') return `its working directory may not be entered: ${cwd}`;
  switch (found.kind) {
    case 'missing':
      return program.includes('/')
        ? `there is no such program: ${program}`
        : `there is no program "${program}" on its PATH`;
    case 'folder':
      return `this is a folder, not a program: ${program}`;
    case 'not_executable':
      return `this file is not executable: ${program} (chmod +x makes it so)`;
    case 'runnable':
      if (code === 'ENOENT' && found.interpreter !== null) {
        return `the interpreter named in the first line of ${program} does not exist: ${found.interpreter}`;
      }
      return `${program} could not be started: ${detail}`;
    default:
      return found satisfies never;
  }
}

/** Looks at the disk for what {@link explainSpawnFailure} needs. */
export function gatherSpawnFacts(program: string, cwd: string, env: Record<string, string>): SpawnFacts {
  return { program, cwd, cwdState: lookAtCwd(cwd), found: lookAtProgram(program, cwd, env) };
}

function lookAtCwd(cwd: string): SpawnFacts['cwdState'] {
  try {
    const stat = statSync(cwd, { throwIfNoEntry: false });
    if (stat === undefined) return 'missing';
    if (!stat.isDirectory()) return 'not_a_folder';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? 'not_enterable' : 'missing';
  }
  return allowed(cwd, constants.X_OK) ? 'folder' : 'not_enterable';
}

/** The first candidate that can run, else the first that exists, as execvp chooses. */
function lookAtProgram(program: string, cwd: string, env: Record<string, string>): ProgramState {
  const folders = program.includes('/') ? [''] : (env.PATH ?? '').split(':');
  let best: ProgramState = { kind: 'missing' };
  for (const folder of folders) {
    const state = lookAtFile(path.resolve(cwd, folder, program));
    if (state.kind === 'runnable') return state;
    if (best.kind === 'missing') best = state;
  }
  return best;
}

function lookAtFile(file: string): ProgramState {
  try {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined) return { kind: 'missing' };
    if (stat.isDirectory()) return { kind: 'folder' };
  } catch {
    return { kind: 'missing' };
  }
  if (!allowed(file, constants.X_OK)) return { kind: 'not_executable' };
  return { kind: 'runnable', interpreter: interpreterOf(file) };
}

function allowed(file: string, mode: number): boolean {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
}

/** The program that a `#!` line names; null without one. */
function interpreterOf(file: string): string | null {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const head = Buffer.alloc(256);
      const text = head.toString('latin1', 0, readSync(descriptor, head, 0, head.length, 0));
      return /^#![ \t]*(\S+)/.exec(text)?.[1] ?? null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}
