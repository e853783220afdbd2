/**
 * Runs the journeys of `test/vscode/ui` with mocha in this process. Every journey starts an editor
 * of its own and is tried a second time in another, so a stumble of the machine fails nothing;
 * that it was tried again is printed.
 */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import Mocha from 'mocha';
import { buildExtension } from './bundle.ts';
import { findChromium } from './chromium.ts';
import { installCodeServer } from './codeServer.ts';
import { usePrograms } from './journey.ts';
import { ROOT } from './places.ts';
import { type Results, runMocha } from './report.ts';

export interface UiOptions {
  screenshots: boolean;
  /** Only journeys whose title contains this. */
  only?: string;
}

/** Milliseconds for one try of one journey; each wait in it has its own, shorter deadline. */
const JOURNEY_MS = 300_000;

export async function runUi({ screenshots, only }: UiOptions): Promise<Results> {
  await buildExtension();
  const codeServer = await installCodeServer();
  const chromium = await findChromium();
  usePrograms({ codeServer, chromium, screenshots });
  const mocha = new Mocha({ ui: 'bdd', timeout: JOURNEY_MS, retries: 1, reporter: Mocha.reporters.Base });
  if (only !== undefined) mocha.fgrep(only);
  const folder = path.join(ROOT, 'test/vscode/ui');
  for (const name of (await readdir(folder)).sort()) {
    if (name.endsWith('.test.ts')) mocha.addFile(path.join(folder, name));
  }
  await mocha.loadFilesAsync();
  return await runMocha(mocha, (line) => process.stdout.write(`${line}\n`));
}
