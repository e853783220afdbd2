/** Where the test host keeps what it downloads and makes, and how it makes it only once. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Ignored by git: downloads live here between runs. */
export const CACHE = path.join(ROOT, '.vscode-test');
/** What esbuild makes of the extension-host suite. */
export const SUITE_BUNDLE = path.join(ROOT, '.build/vscode-suite/index.js');

/**
 * A folder that `fill` makes, once: it is filled under another name and renamed when complete,
 * so an interrupted run leaves nothing half done, and of two runs at once one wins.
 * @returns the absolute path of the complete folder.
 */
export async function cachedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const target = path.join(CACHE, name);
  if (existsSync(target)) return target;
  await mkdir(CACHE, { recursive: true });
  const partial = await mkdtemp(path.join(CACHE, `${name}.partial-`));
  try {
    await fill(partial);
    await rename(partial, target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
    return target;
  } finally {
    await rm(partial, { recursive: true, force: true, maxRetries: 5 });
  }
}

const fresh = new Set<string>();

/** A fresh folder under the temp directory by its real path. Whoever asks removes it. */
export async function freshFolder(prefix: string): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), `laneway-${prefix}-`)));
  fresh.add(folder);
  return folder;
}

/** What an interrupted run has not removed itself. */
export async function removeFreshFolders(): Promise<void> {
  await Promise.allSettled([...fresh].map(removeFolder));
}

/** Removes a folder that a dying process may still be writing into. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  fresh.delete(folder);
}

/** A Node 24 or newer: the one this runs on, else the package `node` of the checkout. */
export function node24(): string {
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const own = path.join(ROOT, 'node_modules/node/bin', name);
  if (existsSync(own)) return own;
  throw new Error(`Node 24 is needed, this is ${process.versions.node}; run npm ci in ${ROOT} first`);
}

/** npm of the Node in use: by its script, so that no shell is needed on Windows. */
export function npmCommand(): [program: string, ...args: string[]] {
  const script = process.env['npm_execpath'];
  if (script !== undefined && script.endsWith('npm-cli.js')) return [process.execPath, script];
  return process.platform === 'win32' ? ['cmd.exe', '/c', 'npm'] : ['npm'];
}
