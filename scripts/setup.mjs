/**
 * What every command of this project needs first, on a machine with only Node ≥ 20, npm and git:
 * the packages of package-lock.json, and the Node that the tests and bundles run on (the npm
 * package `node`). Written for Node 20.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const bin = path.join(root, 'node_modules', '.bin');

/** Environment with this project's programs, its Node among them, first on the PATH. */
export function environment() {
  return { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` };
}

/** Installs what is missing; returns the path of the project's own Node. Exits with a sentence when it cannot. */
export function setup() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) fail(`Node ${process.versions.node} is too old: install Node 20 or newer.`);
  if (!installed()) {
    say('installing the packages of package-lock.json');
    if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']) || !installed()) {
      // A registry that stumbles once is no reason to fail a whole run.
      if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']))
        fail('npm ci failed; its messages are above.');
    }
  }
  const node = path.join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!works(node)) {
    // Newer npm versions do not run a package's install script unless told to.
    run('npm', ['rebuild', 'node', '--loglevel=error']);
    if (!works(node)) fail('the npm package `node` could not be set up: run `npm rebuild node` and read its messages.');
  }
  return node;
}

/** Runs this script again on the project's own Node unless it runs there already; sets up first. */
export function onOwnNode(script) {
  const node = setup();
  if (process.env.LANEWAY_OWN_NODE === '1') return;
  const child = spawnSync(node, [script, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...environment(), LANEWAY_OWN_NODE: '1' },
  });
  process.exit(child.status ?? 1);
}

function installed() {
  const marker = path.join(root, 'node_modules', '.package-lock.json');
  const lock = path.join(root, 'package-lock.json');
  if (!existsSync(marker)) return false;
  if (statSync(marker).mtimeMs >= statSync(lock).mtimeMs) return true;
  const wanted = JSON.parse(readFileSync(lock, 'utf8')).packages;
  const present = JSON.parse(readFileSync(marker, 'utf8')).packages;
  return Object.keys(wanted).every(
    (name) => name === '' || wanted[name].optional || present[name]?.version === wanted[name].version,
  );
}

function works(node) {
  const result = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return result.status === 0 && Number(/^v(\d+)/.exec(result.stdout)?.[1]) >= 22;
}

function run(command, args) {
  const shell = process.platform === 'win32';
  return (
    spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell, env: process.env }).status ===
    0
  );
}

function say(text) {
  process.stderr.write(`laneway: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
