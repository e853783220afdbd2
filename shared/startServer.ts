/**
 * Starting the background server, detached from whoever asks: no stdio, cwd in its state folder,
 * its own session, so that closing the terminal or the editor does not end it.
 */
import fs from 'node:fs';
import path from 'node:path';
import { type ErrorData, isErrorData, LanewayError, toErrorData } from './errors.ts';
import { prepareGround } from './ground.ts';
import type { Env, StatePaths } from './paths.ts';
import { strayStdio } from './strays.ts';

export interface StartOptions {
  workspace: string;
  env: Env;
  paths: StatePaths;
  /** Path of `server.js`. */
  serverBundle: string;
  /** The Node to run it with; default this process's own (an editor's Electron runs it as Node). */
  node?: string | undefined;
}

/**
 * Keeps the server small (why: server/memory.ts), where the C library is glibc: one pool for all
 * threads, and what a large batch took goes back to the system. No job sees it: theirs are the
 * environments of those who added them.
 */
const SMALL = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/** A server on its way up. */
export interface Starting {
  /** Non-null once the process has ended by itself: 0 when another server was first. */
  ended(): { code: number | null; signal: string | null } | null;
}

/**
 * Starts a server process and returns at once; several may be started, the instance lock elects one.
 * @throws LanewayError REFUSED for unsafe ground, ENVIRONMENT when there is no server to start.
 */
export async function startServer(options: StartOptions): Promise<Starting> {
  const { workspace, env, paths, serverBundle, node = process.execPath } = options;
  if (!fs.existsSync(serverBundle)) {
    throw new LanewayError(
      'ENVIRONMENT',
      `The server's code is not at ${serverBundle}`,
      'In a checkout run "npm run build"; else install Laneway again.',
    );
  }
  prepareGround(paths, workspace, env);
  const { spawn } = await import('node:child_process');
  let end: ReturnType<Starting['ended']> = null;
  const child = spawn(node, [serverBundle, '--workspace', workspace], {
    cwd: paths.folder,
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', ...strayStdio()],
    windowsHide: true,
    env: { ...env, ...SMALL, ...(process.versions['electron'] !== undefined && { ELECTRON_RUN_AS_NODE: '1' }) },
  });
  child.once('error', () => {
    end = { code: null, signal: null };
  });
  child.once('exit', (code, signal) => {
    end = { code, signal };
  });
  child.unref();
  return { ended: () => end };
}

/** Why the last start failed, as the server itself left it; null when it left nothing. */
export function startError({ folder }: StatePaths): ErrorData | null {
  try {
    const found: unknown = JSON.parse(fs.readFileSync(path.join(folder, 'start-error.json'), 'utf8'));
    return isErrorData(found) ? found : null;
  } catch {
    return null;
  }
}

/** Why nothing can be written beside the queue, in which case a server cannot leave its reason either; null: it can. */
export function writeTrouble({ folder }: StatePaths): ErrorData | null {
  const file = path.join(folder, `try.${process.pid}.tmp`);
  try {
    fs.writeFileSync(file, Buffer.alloc(8192), { mode: 0o600 });
    return null;
  } catch (error) {
    return toErrorData(error);
  } finally {
    fs.rmSync(file, { force: true });
  }
}
