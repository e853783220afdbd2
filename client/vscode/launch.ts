/**
 * Reaching a server: dial its socket, else start one and dial until it answers. The server is
 * detached and owns nothing of this process, so that closing or reloading the window ends
 * neither it nor its jobs.
 */
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LanewayError } from '../../shared/errors.ts';
import { prepareGround } from '../../shared/ground.ts';
import { SERVER_START_MS } from '../../shared/limits.ts';
import { statePaths, type StatePaths } from '../../shared/paths.ts';
import { type Runtime, runtimeEnv } from './runtime.ts';

export interface LaunchOptions {
  /** Real path of the folder. */
  workspace: string;
  env: NodeJS.ProcessEnv;
  runtime: Runtime;
  /** Path of `dist/server.js`. */
  serverBundle: string;
}

/** Between two tries to reach a server that is starting, in milliseconds. */
const DIAL_GAP_MS = 50;

/**
 * A connected socket, from whichever server runs or is started now.
 * @throws ENVIRONMENT when none can be reached in time; REFUSED for an unsafe state folder.
 */
export async function dialOrStart(options: LaunchOptions): Promise<net.Socket> {
  const paths = statePaths(options.workspace, options.env);
  const running = await tryDial(paths.socket);
  if (running) return running;
  prepareGround(paths, options.workspace, options.env);
  const exit = startServer(options, paths);
  const deadline = Date.now() + SERVER_START_MS;
  while (Date.now() < deadline) {
    const socket = await tryDial(paths.socket);
    if (socket) return socket;
    // Another window may have started one at the same moment: only the loser's own exit is no failure yet.
    if (exit.error) throw unreachable(paths, `it could not be started: ${exit.error}`);
    await delay(DIAL_GAP_MS);
  }
  throw unreachable(paths, exit.code === null ? `it did not answer within ${SERVER_START_MS / 1000} s` : exit.words());
}

/** A connected socket, or null when nobody listens. Starts nothing. */
export async function tryDial(path: string): Promise<net.Socket | null> {
  if (process.platform !== 'win32' && !statSync(path, { throwIfNoEntry: false })) return null;
  return await new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', () => {
      socket.destroy();
      resolve(null);
    });
  });
}

interface Exit {
  code: number | null;
  error: string | null;
  words(): string;
}

function startServer(options: LaunchOptions, paths: StatePaths): Exit {
  const env = runtimeEnv(options.runtime, options.env);
  const exit: Exit = { code: null, error: null, words: () => `it ended at once (exit code ${exit.code})` };
  const child = spawn(options.runtime.execPath, [options.serverBundle, '--workspace', options.workspace], {
    cwd: paths.folder,
    env,
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  child.once('error', (error) => (exit.error = error.message));
  child.once('exit', (code, signal) => (exit.code = code ?? (signal ? 128 : 0)));
  child.unref();
  return exit;
}

function unreachable(paths: StatePaths, why: string): LanewayError {
  return new LanewayError('ENVIRONMENT', `the server cannot be reached: ${why}`, `Its log: ${paths.serverLog}`);
}
