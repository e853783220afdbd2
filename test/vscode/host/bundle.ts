/** Makes the one file of extension-host tests that both editors load. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ROOT, SUITE_BUNDLE } from './places.ts';
import { run } from './processes.ts';
import { step } from './steps.ts';

/** Bundles `test/vscode/suite` as CommonJS; mocha and vscode stay outside. */
export async function bundleSuite(): Promise<void> {
  const { build } = await import('esbuild');
  await build({
    entryPoints: [path.join(ROOT, 'test/vscode/suite/index.ts')],
    outfile: SUITE_BUNDLE,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    sourcemap: 'inline',
    external: ['vscode', 'mocha', 'better-sqlite3'],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    logLevel: 'warning',
  });
  // The checkout's own package.json would make Node read the file as an ES module.
  await writeFile(path.join(path.dirname(SUITE_BUNDLE), 'package.json'), '{"type":"commonjs"}\n');
}

/** The extension as users get it: tests run the built files, so these must exist. */
export async function buildExtension(): Promise<void> {
  if (existsSync(path.join(ROOT, 'dist/extension.js'))) return;
  await step('building the extension', { deadlineMs: 180_000 }, (signal) =>
    run(process.execPath, [path.join(ROOT, 'esbuild.mjs')], { cwd: ROOT, signal }),
  );
}
