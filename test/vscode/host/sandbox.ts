/**
 * A world for one editor: a folder to open, a state home and a runtime folder of its own. It is
 * left by ending the queue's server and every job with it, so nothing outlives a test.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freshFolder, node24, removeFolder, ROOT } from './places.ts';
import { run } from './processes.ts';

export interface Sandbox {
  /** The folder to open, with a task and an npm script in it. */
  readonly workspace: string;
  readonly home: string;
  /** The environment of the editor. */
  readonly env: NodeJS.ProcessEnv;
  /** Writes a file into the folder. */
  write(name: string, text?: string): Promise<void>;
  /** Runs `lane` on the workspace. @returns its stdout. */
  lane(...args: string[]): Promise<string>;
  /** Makes further folders beside it. @returns the file that opens all of them in one window. */
  multiRoot(names: readonly string[]): Promise<string>;
  /** Path of a further folder. */
  folder(name: string): string;
  remove(): Promise<void>;
}

/** Says its pid and counts until the file `stop` is there. */
const TICK = `import { existsSync } from 'node:fs';
console.log('pid ' + process.pid);
let n = 0;
setInterval(() => {
  console.log('tick ' + ++n);
  if (existsSync('stop')) process.exit(0);
}, 100);
`;
/** Fails until the file \`mended\` is there. */
const FLAKY = `import { existsSync } from 'node:fs';
const well = existsSync('mended');
console.log(well ? '\\u001b[32mall is well\\u001b[0m' : '\\u001b[31msomething broke\\u001b[0m');
process.exit(well ? 0 : 3);
`;

const FILES: Record<string, string> = {
  'tick.mjs': TICK,
  'flaky.mjs': FLAKY,
  'package.json': JSON.stringify({ name: 'sample', private: true, scripts: { greet: 'echo hello from a script' } }),
  '.vscode/tasks.json': JSON.stringify({
    version: '2.0.0',
    tasks: [{ label: 'say hi', type: 'shell', command: 'echo hi from a task' }],
  }),
  'notes.txt': 'echo from a selection\n',
};

/** With `homeFiles` the person's home folder is one of its own, `person` beside the workspace, with these in it. */
export async function createSandbox(name: string, homeFiles?: Readonly<Record<string, string>>): Promise<Sandbox> {
  const folder = await freshFolder(name);
  sandboxes.add(folder);
  const workspace = path.join(folder, 'project');
  const home = path.join(folder, 'home');
  const runtime = path.join(folder, 'run');
  for (const made of [workspace, home, runtime]) await mkdir(made, { recursive: true, mode: 0o700 });
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(workspace, file)), { recursive: true });
    await writeFile(path.join(workspace, file), text);
  }
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    LANEWAY_HOME: home,
    LANEWAY_RUNTIME: runtime,
    LANEWAY_TEST: '1',
    PATH: `${path.dirname(node24())}${path.delimiter}${process.env['PATH'] ?? ''}`,
  };
  for (const inherited of Object.keys(env)) {
    if (/^(VSCODE_|ELECTRON_|npm_)/.test(inherited) || inherited === 'LANEWAY_WORKSPACE') delete env[inherited];
  }
  if (homeFiles !== undefined) {
    env['HOME'] = path.join(folder, 'person');
    await mkdir(env['HOME']);
    for (const [file, text] of Object.entries(homeFiles)) await writeFile(path.join(env['HOME'], file), text);
  }
  const laneIn = (place: string, args: string[]): Promise<string> =>
    run(node24(), [path.join(ROOT, 'dist/cli.js'), '--workspace', place, ...args], {
      cwd: place,
      env,
      signal: AbortSignal.timeout(60_000),
    });
  const lane = (...args: string[]): Promise<string> => laneIn(workspace, args);
  const places = new Set([workspace]);
  return {
    workspace,
    home,
    env,
    write: (name, text = '') => writeFile(path.join(workspace, name), text),
    lane,
    folder: (each) => path.join(folder, each),
    multiRoot: async (names) => {
      for (const each of names) {
        places.add(path.join(folder, each));
        await mkdir(path.join(folder, each), { recursive: true });
      }
      const file = path.join(folder, 'several.code-workspace');
      await writeFile(file, JSON.stringify({ folders: ['project', ...names].map((each) => ({ path: each })) }));
      return file;
    },
    remove: async () => {
      if (existsSync(path.join(ROOT, 'dist/cli.js'))) {
        const stops = [...places].map((place) => laneIn(place, ['server', 'stop', '--force']));
        await Promise.allSettled(stops);
      }
      await endStragglers(folder);
      await removeFolder(folder);
      sandboxes.delete(folder);
    },
  };
}

const sandboxes = new Set<string>();

/**
 * Ends processes that still carry a sandbox in their environment: its server, its jobs. Without a folder: of every sandbox
 * that was not removed. Linux only.
 */
export async function endStragglers(folder?: string): Promise<void> {
  const folders = folder === undefined ? [...sandboxes] : [folder];
  if (process.platform !== 'linux' || folders.length === 0) return;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue;
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (!folders.some((each) => environment.includes(`LANEWAY_HOME=${each}/`))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}
