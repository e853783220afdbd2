/**
 * The bootstrap of `lane`, a file of its own: it must run on runtimes that are too old for
 * the rest, and what it loads can come from V8's code cache, which the first file never does.
 */
import fs from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { OLDEST_NODE } from '../../shared/limits.ts';
import { stateHome } from '../../shared/paths.ts';
import type { ServerModule } from '../../shared/serverModule.ts';
import type { Io } from './context.ts';

/** The bundle's own; this file only ever runs as one. */
declare const require: (file: string) => unknown;

/** Words with a bundle of their own, and which: put in by the build. */
declare const LANEWAY_SHORT_VERBS: Readonly<Record<string, string>>;
/** Flags that need more than such a bundle holds. */
const LONG = /^(?:--(?:help|version|direct|wait|follow|from)|-[hf])(?:=|$)/;

function main(): void {
  const { env, argv } = process;
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    const message = `lane needs Node ${OLDEST_NODE} or newer; this is ${process.version} (${process.execPath})`;
    const hint = 'Put a newer node first on the PATH, or use the terminal of VS Code, where Laneway brings its own.';
    const end = argv.indexOf('--');
    const json = argv.slice(0, end < 0 ? argv.length : end).includes('--json');
    process.stderr.write(
      json ? `${JSON.stringify({ error: { code: 'ENVIRONMENT', message, hint } })}\n` : `lane: ${message}\n  ${hint}\n`,
    );
    process.exitCode = argv[2] === 'run' ? 125 : 3;
    return;
  }
  // Ours are private files; the caller's mask is kept for its jobs.
  const umask = process.umask(0o077);
  useCodeCache(env);
  const bundle = require(bundleFor(argv.slice(2))) as { lane: (argv: string[], io: Io) => Promise<number> };
  const serverBundle = path.join(import.meta.dirname, 'server.js');
  process.on('SIGINT', () => {
    if (process.listenerCount('SIGINT') === 1) process.exit(130);
  });
  void bundle
    .lane(argv.slice(2), {
      env,
      cwd: currentFolder(env['PWD']),
      umask,
      serverBundle,
      loadServer: () => require(serverBundle) as ServerModule,
    })
    .then((status) => process.exit(status));
}

/** The smallest file that can do it: what is read and not needed still costs start time. */
function bundleFor(args: string[]): string {
  const [word = 'status'] = args;
  const end = args.indexOf('--');
  const flags = end < 0 ? args : args.slice(0, end);
  if (!Object.hasOwn(LANEWAY_SHORT_VERBS, word) || flags.some((arg) => LONG.test(arg))) return './lane.js';
  return `./verbs/${LANEWAY_SHORT_VERBS[word]}.js`;
}

/** Only where a queue lives already: a command that is refused must leave nothing behind. */
function useCodeCache(env: NodeJS.ProcessEnv): void {
  try {
    const home = stateHome(env);
    if (fs.existsSync(path.join(home, 'workspaces'))) module.enableCompileCache(path.join(home, 'code-cache'));
  } catch {
    // Without the cache everything works, a little later; what is wrong with the home is said where it matters.
  }
}

/** A folder that was removed under us is named by the error that using it gives. */
function currentFolder(named: string | undefined): string {
  try {
    return process.cwd();
  } catch {
    return named ?? path.parse(process.execPath).root;
  }
}

main();
