/**
 * The VS Code that the npm package code-server carries: the same workbench and the same
 * extension host on Node, where VS Code itself cannot be downloaded or has no screen.
 */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cachedFolder, freshFolder, node24, npmCommand, removeFolder } from './places.ts';
import { PLAIN_LOGGER } from './plainLogger.ts';
import { run, type Running, start } from './processes.ts';
import { say, step } from './steps.ts';

/** VS Code 1.139. */
const VERSION = '4.139.1';
/** Raised when what is done to it after the download changes. */
const REVISION = 2;
const NETWORK_HINT = 'It needs the npm registry once; behind a proxy set HTTPS_PROXY or npm config registry.';

/** Downloads the editor into the cache. @returns the folder of its `lib/vscode`. */
export async function installCodeServer(): Promise<string> {
  return await step('installing the editor', { deadlineMs: 480_000, hint: NETWORK_HINT }, (signal) =>
    cachedFolder(`code-server-${VERSION}-${REVISION}`, async (folder) => {
      say(`installing code-server ${VERSION} (once, some 50 MB)`);
      const [npm, ...first] = npmCommand();
      const quiet = ['--silent', '--no-audit', '--no-fund', '--no-update-notifier', '--fetch-retries=4'];
      const env = cleanNpmEnv();
      await run(npm, [...first, 'pack', `code-server@${VERSION}`, ...quiet], { cwd: folder, env, signal });
      const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
      if (archive === undefined) throw new Error('npm pack left no archive');
      await run('tar', ['-xzf', archive, 'package/lib/vscode'], { cwd: folder, signal });
      await rm(path.join(folder, archive));
      const vscode = path.join(folder, 'package/lib/vscode');
      // No scripts: its native modules are not needed here, and a compiler may not be there.
      const install = ['install', '--omit=dev', '--ignore-scripts', '--no-package-lock', ...quiet];
      await run(npm, [...first, ...install], { cwd: vscode, env, signal });
      for (const name of await readdir(vscode)) await rename(path.join(vscode, name), path.join(folder, name));
      await removeFolder(path.join(folder, 'package'));
      await writeFile(path.join(folder, 'node_modules/@vscode/spdlog/index.js'), PLAIN_LOGGER);
    }),
  );
}

/** Nothing that asks the network or puts itself in front of what is tested. */
export const QUIET_SETTINGS: Readonly<Record<string, unknown>> = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'chat.commandCenter.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'telemetry.telemetryLevel': 'off',
  'git.enabled': false,
  'typescript.validate.enable': false,
};

export interface CodeServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** `127.0.0.1:PORT`, which URIs of files on it must carry. */
  readonly authority: string;
  /** Its own data: settings, installed extensions, logs. */
  readonly dataFolder: string;
  /** Of its process, whose children the extension hosts are. */
  readonly pid: number;
  /** Installs a VSIX, also in place of another version; windows notice when they are loaded again. */
  install(vsix: string): Promise<void>;
  tail(): string;
  /** Called when the editor's process ends, with its status. */
  onExit(listener: (code: number | null) => void): void;
  stop(): Promise<void>;
}

export interface CodeServerOptions {
  env: NodeJS.ProcessEnv;
  /** User settings, written before it starts. */
  settings: Record<string, unknown>;
  /** A VSIX to install into it. */
  vsix?: string;
}

/** Starts an editor with a data folder of its own on a free port and waits until it answers. */
export async function startCodeServer(folder: string, options: CodeServerOptions): Promise<CodeServer> {
  return await step('starting the editor', { deadlineMs: 120_000 }, async (signal) => {
    const dataFolder = await freshFolder('editor');
    for (const scope of ['User', 'Machine']) {
      const settings = path.join(dataFolder, 'data', scope);
      await mkdir(settings, { recursive: true });
      await writeFile(path.join(settings, 'settings.json'), JSON.stringify(options.settings, null, 2));
    }
    const main = path.join(folder, 'out/server-main.js');
    // It leaves sockets and folders where temporary things go: a place that goes with its data.
    const temporary = path.join(dataFolder, 'tmp');
    await mkdir(temporary, { mode: 0o700 });
    // VSCODE_CLI: take the environment as it is instead of asking a login shell for it.
    const env = { ...options.env, VSCODE_CLI: '1', TMPDIR: temporary, XDG_RUNTIME_DIR: temporary };
    const common = ['--accept-server-license-terms', '--server-data-dir', dataFolder, '--telemetry-level', 'off'];
    const install = (vsix: string, until = AbortSignal.timeout(120_000)): Promise<string> =>
      run(node24(), [main, ...common, '--install-extension', vsix, '--force'], { env, signal: until });
    if (options.vsix !== undefined) await install(options.vsix, signal);
    let listening: (port: number) => void;
    const port = new Promise<number>((resolve) => {
      listening = resolve;
    });
    let text = '';
    const server = start(
      node24(),
      [
        main,
        '--host',
        '127.0.0.1',
        '--port',
        '0',
        '--without-connection-token',
        '--enable-smoke-test-driver',
        ...common,
      ],
      {
        env,
        onOutput: (piece) => {
          text = (text + piece).slice(-4096);
          const found = /listening on (\d+)/.exec(text);
          if (found !== null) listening(Number(found[1]));
        },
      },
    );
    signal.addEventListener('abort', () => void stop(server, dataFolder));
    const died = new Promise<never>((_resolve, reject) => {
      server.child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${server.tail().slice(-2000)}`)));
    });
    died.catch(() => undefined);
    const authority = `127.0.0.1:${await Promise.race([port, died])}`;
    const origin = `http://${authority}`;
    await Promise.race([died, answers(origin, signal)]);
    return {
      origin,
      authority,
      dataFolder,
      pid: server.child.pid ?? 0,
      install: async (vsix) => void (await install(vsix)),
      tail: () => server.tail(),
      onExit: (listener) => server.child.once('exit', listener),
      stop: () => stop(server, dataFolder),
    };
  });
}

async function answers(origin: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const response = await fetch(`${origin}/version`, { signal: AbortSignal.timeout(15_000) }).catch(() => null);
    if (response?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function stop(server: Running, dataFolder: string): Promise<void> {
  await server.stop();
  await removeFolder(dataFolder);
}

/** npm's own variables of an `npm test` would change what the npm started here does. */
function cleanNpmEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^npm_/i.test(name) || /^npm_config_(registry|cache|proxy|https_proxy|noproxy|cafile|userconfig)$/i.test(name),
  );
  return Object.fromEntries(kept);
}
