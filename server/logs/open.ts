/** The files an attempt writes to, opened before its process starts. */
import { closeSync, mkdirSync, openSync, statSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import type { LogSizes } from '../store/api.ts';
import { removeEmptyFolder } from './remove.ts';
import type { LogPaths } from './paths.ts';

export interface OpenLogs extends LogPaths {
  /** Descriptors for the child. */
  descriptors: { stdout: number; stderr: number };
}

/** Owner only: output may hold secrets. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * Opens in append mode, so that stdout and stderr in one file never overwrite each other.
 * @throws the system's error; nothing stays open.
 */
export function openLogs(paths: LogPaths): OpenLogs {
  const stdout = openAppending(paths.stdout);
  if (paths.stderr === paths.stdout) return { ...paths, descriptors: { stdout, stderr: stdout } };
  try {
    return { ...paths, descriptors: { stdout, stderr: openAppending(paths.stderr) } };
  } catch (error) {
    closeSync(stdout);
    throw error;
  }
}

/** The child has its own copies by then. */
export function closeLogs({ descriptors: { stdout, stderr } }: OpenLogs): void {
  closeSync(stdout);
  if (stderr !== stdout) closeSync(stderr);
}

/** For an attempt whose process never started: its files, and its folder when that leaves it empty. */
export function discardLogs({ stdout, stderr }: LogPaths): void {
  for (const file of new Set([stdout, stderr])) {
    try {
      unlinkSync(file);
    } catch {
      // Never made, or taken away already.
    }
  }
  removeEmptyFolder(path.dirname(stdout));
}

/** Bytes of the logs now; null for a file that is not there or cannot be looked at. */
export function logSizes({ stdout, stderr }: LogPaths): LogSizes {
  const stdoutBytes = sizeOf(stdout);
  return { stdoutBytes, stderrBytes: stderr === stdout ? stdoutBytes : sizeOf(stderr) };
}

function sizeOf(file: string): number | null {
  try {
    return statSync(file, { throwIfNoEntry: false })?.size ?? null;
  } catch {
    return null;
  }
}

/** The folder is made when missing, and again when pruning removed it in between. */
function openAppending(file: string): number {
  for (let tries = 0; ; tries += 1) {
    try {
      return openSync(file, 'a', FILE_MODE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 3) throw error;
      mkdirSync(path.dirname(file), { recursive: true, mode: FOLDER_MODE });
    }
  }
}
