/** VSIX packages for journeys: this version's, and later ones that differ in what a journey is about. */
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { node24, ROOT } from './places.ts';
import { run } from './processes.ts';
import { step } from './steps.ts';

const BUILD = path.join(ROOT, '.build/vsix-test');
/** What a package is made from. */
const SOURCES = ['client', 'server', 'shared', 'media', 'scripts'];
const FILES = [
  'package.json',
  'package-lock.json',
  'esbuild.mjs',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
  '.vscodeignore',
];

/** What a later version has changed. */
export interface Later {
  version: string;
  /** Added to the number by which client and server understand one another. */
  protocolsLater: number;
}

/** Makes this version's VSIX. @returns its path */
export async function makePackage(): Promise<string> {
  const vsix = path.join(BUILD, 'this.vsix');
  await mkdir(BUILD, { recursive: true });
  await pack(ROOT, vsix);
  return vsix;
}

/** Makes the VSIX of a version to come, from a copy of the sources. @returns its path */
export async function makeLaterPackage({ version, protocolsLater }: Later): Promise<string> {
  const copy = path.join(BUILD, version);
  await rm(copy, { recursive: true, force: true });
  await mkdir(copy, { recursive: true });
  // As old as they are, so that nothing is taken for not yet installed.
  const options = { recursive: true, preserveTimestamps: true };
  for (const name of [...SOURCES, ...FILES]) await cp(path.join(ROOT, name), path.join(copy, name), options);
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'), 'junction');
  await change(path.join(copy, 'package.json'), /"version": "[^"]+"/, () => `"version": "${version}"`);
  const later = (now: string): string => String(Number(now) + protocolsLater);
  if (protocolsLater > 0) await change(path.join(copy, 'shared/protocol.ts'), /(?<=PROTOCOL = )\d+/, later);
  const vsix = `${copy}.vsix`;
  await pack(copy, vsix);
  return vsix;
}

async function pack(root: string, vsix: string): Promise<void> {
  await step(`making ${path.basename(vsix)}`, { deadlineMs: 180_000 }, (signal) =>
    run(node24(), [path.join(root, 'scripts/package.mjs'), '--out', vsix], { cwd: root, signal }),
  );
}

async function change(file: string, what: RegExp, to: (found: string) => string): Promise<void> {
  const text = await readFile(file, 'utf8');
  const changed = text.replace(what, to);
  if (changed === text) throw new Error(`${file} has nothing like ${what}`);
  await writeFile(file, changed);
}
