/**
 * Starting a job's process: no shell, its own session, output straight into the log files.
 *
 * Node's own `spawn` does it: with execa a job costs the server 1.4 to 1.6 times as much processor time
 * (measured, with `true`, see docs/performance.md). Windows is execa's: there a
 * program may be a `.cmd`, which only a shell runs, and each argument needs quoting for both.
 *
 * The umask belongs to the process, not to a child, so it is set for the moment of the synchronous
 * spawn and put back. Files that another thread creates in that moment name their own modes
 * (0600, 0700), from which a mask can only take.
 */
import { spawn as spawnPlainly } from 'node:child_process';
import type { execa as Execa } from 'execa';
import { strayStdio } from '../../shared/strays.ts';
import { explainSpawnFailure, gatherSpawnFacts } from './spawnFailure.ts';
import type { SpawnFailure } from './spawnFailure.ts';
import type { Exit } from './outcome.ts';
import { loadExeca } from './tool.ts';

export interface SpawnRequest {
  argv: string[];
  cwd: string;
  /** The whole environment; nothing of this process is added. */
  env: Record<string, string>;
  umask: number;
  stdout: number;
  stderr: number;
}

export type Spawned =
  | { started: true; pid: number; exited: Promise<Exit> }
  | { started: false; failure: Promise<SpawnFailure> };

export type Spawn = (request: SpawnRequest) => Spawned;

/** Why the system started nothing. */
interface Refusal {
  code?: string | undefined;
  message: string;
}

type Started = { pid: number; exited: Promise<Exit> } | { refused: Promise<Refusal> };

/** May throw a {@link Refusal} instead of answering with one. */
type Start = (request: SpawnRequest) => Started;

/** What Node hands on to each child unless it is told otherwise. */
const NOT_OURS = { NODE_V8_COVERAGE: undefined };

/** A spawn that never throws: what goes wrong is the answer. */
export async function createSpawn(platform: NodeJS.Platform): Promise<Spawn> {
  const start = platform === 'win32' ? withExeca(await loadExeca()) : plainly;
  return (request) => {
    const { argv, cwd, env, umask } = request;
    const explain = ({ code, message }: Refusal) =>
      explainSpawnFailure(code, message, gatherSpawnFacts(argv[0] ?? '', cwd, env));
    const mask = process.umask(umask);
    try {
      const started = start(request);
      if ('pid' in started) return { started: true, ...started };
      return { started: false, failure: started.refused.then(explain) };
    } catch (error) {
      return { started: false, failure: Promise.resolve(explain(error as Refusal)) };
    } finally {
      process.umask(mask);
    }
  };
}

const plainly: Start = ({ argv, cwd, env, stdout, stderr }) => {
  const [program = '', ...args] = argv;
  const child = spawnPlainly(program, args, {
    stdio: ['ignore', stdout, stderr, ...strayStdio()],
    cwd,
    env: { ...NOT_OURS, ...env },
    detached: true,
  });
  // An error can also come of a running one, such as a kill that failed; its exit decides.
  const refused = new Promise<Refusal>((resolve) => child.on('error', resolve));
  const { pid } = child;
  if (pid === undefined) return { refused };
  return { pid, exited: new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal }))) };
};

const withExeca =
  (execa: typeof Execa): Start =>
  ({ argv, cwd, env, stdout, stderr }) => {
    const [program = '', ...args] = argv;
    const child = execa(program, args, {
      stdin: 'ignore',
      // Its types know the descriptors 3…9 only; any open one serves.
      stdout: stdout as 3,
      stderr: stderr as 3,
      cwd,
      env: { ...NOT_OURS, ...env },
      extendEnv: false,
      detached: true,
      cleanup: false,
      reject: false,
      buffer: false,
      windowsHide: true,
    });
    const { pid } = child;
    if (pid === undefined) {
      return {
        refused: child.then(({ code, originalMessage = 'no reason was given' }) => ({
          code,
          message: originalMessage,
        })),
      };
    }
    const exited = new Promise<Exit>((resolve) => {
      child.nodeChildProcess.once('exit', (code, signal) => resolve({ code, signal }));
    });
    return { pid, exited };
  };
