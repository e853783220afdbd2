/**
 * `npm run package [-- --target linux-x64] [--out FILE]`: a VSIX for one platform.
 *
 * The bundles are built for that platform, with its one native binary inside, into a folder of
 * their own: the checkout's `dist` is left alone, which a running server may be using.
 */
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { onOwnNode, root } from './setup.mjs';

onOwnNode(fileURLToPath(import.meta.url));

/** The platforms of VS Code for which SQLite's package carries a binary, by its name there. */
const TARGETS = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'alpine-x64': 'linuxmusl-x64',
  'alpine-arm64': 'linuxmusl-arm64',
  'darwin-x64': 'darwin-x64',
  'darwin-arm64': 'darwin-arm64',
  'win32-x64': 'win32-x64',
  'win32-arm64': 'win32-arm64',
};
/** Everything that may be in the package; `.vscodeignore` says so once more. */
const SHIPPED = ['CHANGELOG.md', 'LICENSE', 'media', '.vscodeignore'];

const target = option('--target') ?? `${process.platform}-${process.arch}`;
const binary = TARGETS[target];
if (binary === undefined) fail(`"${target}" is no platform: one of ${Object.keys(TARGETS).join(', ')}`);
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
const out = path.resolve(option('--out') ?? path.join(root, `laneway-${target}-${manifest.version}.vsix`));
const stage = path.join(root, '.build', 'vsix', target);

await rm(stage, { recursive: true, force: true });
await mkdir(stage, { recursive: true });
const { buildBundles } = await import('../esbuild.mjs');
await buildBundles({ outdir: path.join(stage, 'dist'), target: binary });
for (const name of SHIPPED) await cp(path.join(root, name), path.join(stage, name), { recursive: true });
await writeFile(path.join(stage, 'README.md'), withoutLinks(await readFile(path.join(root, 'README.md'), 'utf8')));
await writeFile(path.join(stage, 'package.json'), `${JSON.stringify(shipped(manifest), null, 2)}\n`);

const { createVSIX } = await import('@vscode/vsce');
await quietly(() =>
  createVSIX({
    cwd: stage,
    packagePath: out,
    target,
    dependencies: false,
    rewriteRelativeLinks: false,
    allowMissingRepository: true,
    skipLicense: true,
  }),
);
const { size } = await stat(out);
process.stdout.write(`${path.relative(process.cwd(), out) || out} (${(size / 1_048_576).toFixed(1)} MiB)\n`);

/** The manifest without what only a checkout needs. */
function shipped({ scripts: _scripts, devDependencies: _dev, dependencies: _dependencies, files: _files, ...rest }) {
  return rest;
}

/**
 * The README as a page of its own. Editors follow no relative link of an extension's page and show
 * no picture from inside it, so the pictures are left out, and a link is only the name of its file.
 */
function withoutLinks(readme) {
  return readme
    .replace(/<picture>.*?<\/picture>\n+/gs, '')
    .replace(/\[([^\]\n]+)\]\((?!https?:|#)([^)\s]+)\)/g, '$1')
    .replace(/^## More$/m, '## More, in the repository');
}

/** vsce lists every file and warns of missing links; its errors are what matters. */
async function quietly(work) {
  const { log, warn } = console;
  console.log = () => undefined;
  console.warn = () => undefined;
  try {
    await work();
  } catch (error) {
    fail(`the package could not be made: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    Object.assign(console, { log, warn });
  }
}

function option(name) {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
