/**
 * Other queues of the command line, where they happen to be installed (Debian's packages are named).
 * None is needed, none is installed here; each runs `true` with its output kept.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { timeCommand } from './processes.ts';

export interface Peer {
  name: string;
  /** Milliseconds for so many jobs, so many at once; null when it cannot run that many at once. */
  run(jobs: number, atOnce: number, folder: string): Promise<number> | null;
}

/** Those on the PATH. */
export function installedPeers(): Peer[] {
  return ALL.filter(({ program }) => isInstalled(program));
}

const ALL: (Peer & { program: string })[] = [
  {
    name: 'task-spooler',
    program: 'tsp',
    async run(jobs, atOnce, folder) {
      const env = { ...process.env, TS_SOCKET: path.join(folder, 'ts'), TMPDIR: folder, TS_SLOTS: String(atOnce) };
      try {
        // The client waits for the last job it added; with several at once, for all before it too, near enough.
        return await shell(`i=0; while [ $i -lt ${jobs} ]; do tsp true >/dev/null; i=$((i+1)); done; tsp -w`, env);
      } finally {
        spawnSync('tsp', ['-K'], { env });
      }
    },
  },
  {
    name: 'nq',
    program: 'nq',
    run(jobs, atOnce, folder) {
      if (atOnce > 1) return null;
      const env = { ...process.env, NQDIR: folder };
      return shell(`i=0; while [ $i -lt ${jobs} ]; do nq true >/dev/null; i=$((i+1)); done; nq -w`, env);
    },
  },
  {
    name: 'parallel --joblog',
    program: 'parallel',
    run: (jobs, atOnce, folder) =>
      shell(`seq ${jobs} | parallel --joblog ${folder}/log --results ${folder}/out -j ${atOnce} -n 1 'true #'`, {
        ...process.env,
        PARALLEL_HOME: folder,
        HOME: folder,
      }),
  },
];

async function shell(script: string, env: NodeJS.ProcessEnv): Promise<number> {
  return timeCommand(['sh', '-c', script], { env });
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .some((folder) => folder !== '' && fs.existsSync(path.join(folder, program)));
}
