/**
 * Builds the bundles in `dist/`. One call per bundle with its reason to be apart:
 *
 *   server.js     the background server, and what `--direct` loads in-process
 *   cli.js        the first file of `lane`: checks Node, which the rest is too new for if it is old
 *   lane.js       the rest of it, apart because only what a file loads can come from V8's code cache
 *   verbs/*.js    the same with one short verb alone: a file half the size starts measurably sooner
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

/** Verbs that are done in one round trip, by every word for them. */
const SHORT_VERBS = {
  ...Object.fromEntries(
    ['add', 'list', 'show', 'status', 'cancel', 'retry', 'rerun', 'bump', 'lanes', 'pause', 'resume', 'events'].map(
      (name) => [name, name],
    ),
  ),
  ls: 'list',
};

/**
 * `import fs from 'node:fs'` as nothing but `require`. What esbuild makes of it otherwise copies every property of
 * the module behind a getter, which for a short command is a quarter of all it allocates. Default imports only.
 */
const plainBuiltins = {
  name: 'plain-builtins',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'builtin', sideEffects: false } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `export default require(${JSON.stringify(path)});`,
    }));
  },
};

/** Leaves one verb in `lane`. What the bootstrap sends to lane.js instead is left out. */
const only = (name) => ({
  name: 'only-one-verb',
  setup(build) {
    build.onLoad({ filter: /cli[\\/]verbs[\\/]index\.ts$/ }, () => ({
      loader: 'ts',
      contents: `import verb from './${name}.ts';
        export const VERBS = {};
        export const verbName = (word) => (word === '${name}' || verb.aliases?.includes(word) ? '${name}' : null);
        export const loadVerb = async () => verb;`,
    }));
    build.onResolve({ filter: /[\\/](?:help|batch|seeThrough|waitJobs|follow|persist)\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './lane.js', external: true } : undefined,
    );
  },
});

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
    {
      in: 'client/cli/main.ts',
      out: 'cli.js',
      options: {
        banner: { js: '#!/usr/bin/env node' },
        plugins: [plainBuiltins],
        define: { ...common.define, LANEWAY_SHORT_VERBS: JSON.stringify(SHORT_VERBS) },
      },
    },
    { in: 'client/cli/lane.ts', out: 'lane.js', options: { plugins: [plainBuiltins] } },
    ...[...new Set(Object.values(SHORT_VERBS))].map((name) => ({
      in: 'client/cli/lane.ts',
      out: `verbs/${name}.js`,
      options: { plugins: [plainBuiltins, only(name)] },
    })),
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
