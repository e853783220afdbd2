/**
 * `npm test`: everything, in the order in which a mistake is cheapest to learn of.
 *
 *   npm test                     all of it
 *   npm test -- store cli        only these suites
 *   npm test -- server/feed      only files of a suite whose name contains the part after the slash
 *
 * A test file that fails is run once more by itself when CI is set; one that passes then counts as passed and is
 * named as flaky, to be looked at. Ends with `N passed, N failed`, or with `, N skipped` behind it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment, onOwnNode, root } from './setup.mjs';

onOwnNode(fileURLToPath(import.meta.url));
const { runFiles, testFiles } = await import('./test/files.mjs');

const started = performance.now();
const total = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const flaky = [];
const wanted = process.argv.slice(2);
const scratch = path.join(root, '.build', 'results');
mkdirSync(scratch, { recursive: true });

/** Whole steps, each one test of its own. */
const steps = [
  ['build', ['esbuild.mjs']],
  ['types', ['node_modules/typescript/bin/tsc', '--build']],
  ['lint', ['node_modules/oxlint/bin/oxlint', '--type-aware', '--deny-warnings']],
  ['format', ['node_modules/oxfmt/bin/oxfmt', '--check']],
];
/** Suites of files for Node's test runner, and how many files at once. */
const suites = [
  ['unit', ['test/unit', 'test/vscode/unit'], 2],
  ['architecture', ['test/architecture'], 2],
  ['store', ['test/store'], 2],
  ['server', ['test/server'], 2],
  ['cli', ['test/cli'], 2],
  ['crash', ['test/crash'], 1],
];
/** Suites that run inside a real editor. */
const editors = [
  ['vscode-suite', ['test/vscode/host/main.ts', 'suite']],
  ['vscode-ui', ['test/vscode/host/main.ts', 'ui']],
];

for (const [name, command] of steps) {
  if (name !== 'build' && !selected(name)) continue;
  headline(name);
  const ok = node(command);
  record({ passed: ok ? 1 : 0, failed: ok ? [] : [name], skipped: 0 });
  if (!ok && name === 'build') finish();
}
for (const [name, folders, concurrency] of suites) {
  const part = selected(name);
  if (!part) continue;
  const files = testFiles(root, folders).filter((file) => part === true || file.includes(part));
  if (files.length === 0) continue;
  headline(name);
  const first = await runFiles(files, concurrency);
  const again = process.env.CI ? first.files.filter((file) => file.failed.length > 0) : [];
  for (const file of again) {
    process.stdout.write(`\n${file.path} failed; once more by itself\n`);
    const second = await runFiles([path.join(root, file.path)], 1);
    if (second.files.some((each) => each.failed.length > 0)) continue;
    flaky.push(...file.failed.map((test) => `${file.path}: ${test}`));
    Object.assign(file, second.files[0]);
  }
  for (const file of first.files) record(file);
}
for (const [name, command] of editors) {
  if (!selected(name) && !wanted.includes('vscode')) continue;
  headline(name);
  record(editor(name, command));
}
finish();

/** Runs an editor suite; where CI is set, once more when it failed. */
function editor(name, command) {
  const first = editorOnce(name, command);
  if (first.failed.length === 0 || !process.env.CI) return first;
  process.stdout.write(`\n${name} failed; once more by itself\n`);
  const second = editorOnce(name, command);
  if (second.failed.length === 0) flaky.push(...first.failed);
  return second;
}

function editorOnce(name, command) {
  const results = path.join(scratch, `${name}.json`);
  rmSync(results, { force: true });
  const ok = node([...command, '--results', results]);
  try {
    const read = JSON.parse(readFileSync(results, 'utf8'));
    if (!ok && read.failed.length === 0) read.failed.push(`${name}: ended with an error`);
    return { ...read, failed: read.failed.map((test) => `${name}: ${test}`) };
  } catch {
    return { passed: 0, failed: [`${name}: ended without results`], skipped: 0 };
  }
}

/** True when the whole suite is wanted, a part of a file's name, or false. */
function selected(suite) {
  if (wanted.length === 0 || wanted.includes(suite)) return true;
  const part = wanted.find((each) => each.startsWith(`${suite}/`));
  return part ? part.slice(suite.length + 1) : false;
}

function node(args) {
  const child = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: environment(),
    timeout: 25 * 60_000,
    killSignal: 'SIGKILL',
  });
  return child.status === 0;
}

function record({ passed, failed, skipped, path: file }) {
  total.passed += passed;
  total.failed += failed.length;
  total.skipped += skipped;
  failures.push(...failed.map((test) => (file ? `${file}: ${test}` : test)));
}

function headline(text) {
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stdout.write(`\n── ${text} (at ${seconds} s)\n`);
}

function finish() {
  headline('result');
  for (const test of flaky) process.stdout.write(`flaky: ${test}\n`);
  for (const test of failures) process.stdout.write(`failed: ${test}\n`);
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
  process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
  process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1);
}
