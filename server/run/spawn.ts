/**
 * Starting a job's process: no shell, its own session, output straight into the log files.
 *
 * The umask belongs to the process, not to a child, so it is set for the moment of the synchronous
 * spawn and put back. Files that another thread creates in that moment name their own modes
 * (0600, 0700), from which a mask can only take.
 */
import type { execa as Execa } from 'execa';
import { explainSpawnFailure, gatherSpawnFacts } from './spawnFailure.ts';
import type { SpawnFailure } from './spawnFailure.ts';
import type { Exit } from './outcome.ts';

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

/** Never throws: what goes wrong is the answer. */
export function createSpawn(execa: typeof Execa): Spawn {
  return ({ argv, cwd, env, umask, stdout, stderr }) => {
    const [program = '', ...args] = argv;
    const explain = (code: string | undefined, detail: string) =>
      explainSpawnFailure(code, detail, gatherSpawnFacts(program, cwd, env));
    const mask = process.umask(umask);
    try {
      const child = execa(program, args, {
        stdin: 'ignore',
        // Its types know the descriptors 3…9 only; any open one serves.
        stdout: stdout as 3,
        stderr: stderr as 3,
        cwd,
        env,
        extendEnv: false,
        detached: true,
        cleanup: false,
        reject: false,
        buffer: false,
        windowsHide: true,
      });
      const { pid } = child;
      if (pid !== undefined) {
        return {
          started: true,
          pid,
          exited: new Promise((resolve) => {
            child.nodeChildProcess.once('exit', (code, signal) => resolve({ code, signal }));
          }),
        };
      }
      return {
        started: false,
        failure: child.then((result) => explain(result.code, result.originalMessage ?? 'no reason was given')),
      };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { started: false, failure: Promise.resolve(explain(code, message)) };
    } finally {
      process.umask(mask);
    }
  };
}
