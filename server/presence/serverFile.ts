/**
 * Two small files beside the database: `server.json` names the running server, for tools that cannot
 * ask it; `start-error.json` says why one could not begin, for the client that started it unseen.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { ErrorData } from '../../shared/errors.ts';
import type { StatePaths } from '../../shared/paths.ts';
import { replaceFile } from '../replaceFile.ts';

export interface ServerFile {
  pid: number;
  version: string;
  protocol: number;
  socket: string;
  startedAt: string;
}

export function writeServerFile(paths: StatePaths, content: ServerFile): void {
  replaceFile(paths.serverFile, `${JSON.stringify(content)}\n`, 0o600);
}

/** Null when there is none; the process it names may be gone. */
export function readServerFile(paths: StatePaths): ServerFile | null {
  try {
    const found = JSON.parse(fs.readFileSync(paths.serverFile, 'utf8')) as Partial<ServerFile>;
    return typeof found.pid === 'number' && typeof found.socket === 'string' ? (found as ServerFile) : null;
  } catch {
    return null;
  }
}

/** Of this process only: another server may have taken its place meanwhile. */
export function removeServerFile(paths: StatePaths, pid: number): void {
  if (readServerFile(paths)?.pid === pid) fs.rmSync(paths.serverFile, { force: true });
}

export function writeStartError(paths: StatePaths, error: ErrorData): void {
  try {
    replaceFile(errorFile(paths), `${JSON.stringify(error)}\n`, 0o600);
  } catch {
    // A folder that cannot be written is often the very reason; the exit status has to do.
  }
}

export function clearStartError(paths: StatePaths): void {
  fs.rmSync(errorFile(paths), { force: true });
}

function errorFile(paths: StatePaths): string {
  return path.join(paths.folder, 'start-error.json');
}
