/**
 * Builds the bundles in `dist/`. One call per bundle with its reason to be apart:
 *
 *   server.js     the background server, and what `--direct` loads in-process
 *   cli.js        the first file of `lane`: checks Node, which the rest is too new for if it is old
 *   lane.js       the rest of it, apart because only what a file loads can come from V8's code cache
 *   extension.js  the VS Code extension
 *
 * All are CommonJS: Node starts them faster than modules, and VS Code loads nothing else.
 * better-sqlite3 stays outside in a checkout (its package holds a binary per platform);
 * `--target linux-x64` bundles the one binary of that platform instead, for a VSIX.
 */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';

const root = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));

/** @param {{outdir?: string, target?: string | null}} options `target`: platform-arch of the one native binary. */
export async function buildBundles({ outdir = path.join(root, 'dist'), target = null } = {}) {
  const common = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    minify: true,
    keepNames: false,
    legalComments: 'none',
    logLevel: 'warning',
    loader: { '.sql': 'text', '.node': 'copy' },
    assetNames: '[name]',
    define: {
      'import.meta.dirname': '__dirname',
      'import.meta.filename': '__filename',
      LANEWAY_VERSION: JSON.stringify(version),
    },
  };
  const sqlite =
    target === null ? { external: ['better-sqlite3'] } : { alias: { 'better-sqlite3': `better-sqlite3/${target}` } };
  const bundles = [
    { in: 'server/main.ts', out: 'server.js', options: sqlite },
    { in: 'client/cli/main.ts', out: 'cli.js', options: { banner: { js: '#!/usr/bin/env node' } } },
    { in: 'client/cli/lane.ts', out: 'lane.js' },
    { in: 'client/vscode/extension.ts', out: 'extension.js', options: { external: ['vscode'] } },
    {
      in: 'client/vscode/timeline/webview/main.ts',
      out: 'timeline.js',
      options: { platform: 'browser', format: 'iife', target: 'es2022' },
    },
  ].filter((bundle) => existsSync(path.join(root, bundle.in)));

  await mkdir(outdir, { recursive: true });
  await writeFile(path.join(outdir, 'package.json'), '{ "type": "commonjs" }\n');
  await Promise.all(
    bundles.map((bundle) =>
      build({
        ...common,
        entryPoints: [path.join(root, bundle.in)],
        outfile: path.join(outdir, bundle.out),
        ...bundle.options,
      }),
    ),
  );
  const migrations = path.join(root, 'server/store/migrations');
  await rm(path.join(outdir, 'migrations'), { recursive: true, force: true });
  await cp(migrations, path.join(outdir, 'migrations'), { recursive: true, filter: (file) => !file.endsWith('.ts') });
}

if (process.argv[1] === path.join(root, 'esbuild.mjs')) {
  const at = process.argv.indexOf('--target');
  await buildBundles({ target: at === -1 ? null : (process.argv[at + 1] ?? null) });
}
