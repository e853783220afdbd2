/**
 * `npm run quickstart`: the main job, on real commands, on a queue of its own that is gone afterwards.
 *
 * Installs and builds what is missing, starts a server on a temporary queue, queues this project's own lint and type
 * check in two lanes, a job that fails once and is retried, and one that is cancelled; follows their output, shows
 * `lane status` and the tree of attempts, stops the server and leaves nothing behind.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { environment, onOwnNode, root } from './setup.mjs';

onOwnNode(fileURLToPath(import.meta.url));
const { buildBundles } = await import('../esbuild.mjs');

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const cli = path.join(root, 'dist', 'cli.js');
const scratch = mkdtempSync(path.join(tmpdir(), 'laneway-quickstart-'));
const env = {
  ...environment(),
  LANEWAY_HOME: path.join(scratch, 'state'),
  LANEWAY_RUNTIME: path.join(scratch, 'run'),
  LANEWAY_WORKSPACE: root,
  ...(colour ? { FORCE_COLOR: '1' } : {}),
};
let stopped = false;

process.on('SIGINT', () => {
  cleanUp();
  process.exit(130);
});

try {
  step('Building');
  await buildBundles();

  step('Queueing four jobs in three lanes');
  lane('lanes', 'set', 'flaky', '--retry-delay', '500ms', '--slots', '2');
  const jobs = [
    add('lint', '--lane', 'lint', '--', 'npx', 'oxlint', 'shared', 'server', 'client'),
    add('types', '--lane', 'types', '--', 'npx', 'tsc', '--build'),
    add(
      'flaky',
      '--lane',
      'flaky',
      '--retries',
      '2',
      '-c',
      'echo "attempt $LANEWAY_ATTEMPT"; test "$LANEWAY_ATTEMPT" -ge 2',
    ),
    add('endless', '--lane', 'flaky', '-c', 'echo "running until somebody cancels"; exec sleep 600'),
  ];

  step('Following them');
  const [, , flaky, endless] = jobs;
  const finished = Promise.all(jobs.map(follow));
  await events(endless, 'claimed');
  await pause(800);
  process.stdout.write(paint(2, `  lane cancel ${endless.id}: it would run for ten minutes\n`));
  lane('cancel', String(endless.id));
  await finished;
  lane('wait', '--all');

  step('lane status');
  show('status');
  step(`lane show ${flaky.id}: the tree of its attempts`);
  show('show', String(flaky.id));
  step('lane list');
  show('list');

  const ended = jobs.map((job) => JSON.parse(lane('show', String(job.id), '--json')).job.state);
  const expected = ['done', 'done', 'done', 'canceled'];
  if (ended.join() !== expected.join()) {
    throw new Error(`the jobs ended ${ended.join(', ')}, where ${expected.join(', ')} was due`);
  }
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`\nquickstart failed: ${error instanceof Error ? error.message : String(error)}\n`);
} finally {
  cleanUp();
}

if (process.exitCode !== 1) {
  step('Done: the server is stopped and its queue removed');
  process.stdout.write(
    [
      '',
      'Next:',
      '  npx lane add -- npm test      queue something in this folder',
      '  npx lane                      see the queue',
      '  npx lane output last -f       follow it',
      '',
      '',
    ].join('\n'),
  );
}

function add(label, ...args) {
  const { job } = JSON.parse(lane('add', '--json', '--label', label, ...args));
  process.stdout.write(`  #${job.id} ${label.padEnd(8)} lane ${job.lane.padEnd(6)} ${job.argv.join(' ')}\n`);
  return { id: job.id, label };
}

/** Runs `lane` to its end; returns its stdout, throws with its stderr. */
function lane(...args) {
  const result = spawnSync(process.execPath, [cli, ...args], { cwd: root, env, encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`lane ${args[0]}: ${result.stderr.trim() || `exit ${result.status}`}`);
  return result.stdout;
}

function show(...args) {
  spawnSync(process.execPath, [cli, ...args], { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** Streams the newest attempt's log, and what `lane` says meanwhile, to the end, each line marked with the job. */
function follow({ id, label }) {
  const child = spawn(process.execPath, [cli, 'output', String(id), '--follow'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const since = performance.now();
  const say = (line) => {
    const seconds = ((performance.now() - since) / 1000).toFixed(1).padStart(5);
    process.stdout.write(`${paint(2, `${seconds}s`)} ${paint(36, `#${id} ${label}`.padEnd(12))} ${line}\n`);
  };
  createInterface({ input: child.stdout }).on('line', say);
  // Why it waits. Through a pipe it comes in whole lines: the live lines of several would overwrite one another.
  createInterface({ input: child.stderr }).on('line', (line) => say(paint(2, line)));
  return new Promise((resolve) => child.on('close', resolve));
}

/** Resolves once the ledger holds this event of the job. */
async function events({ id }, type) {
  let since = 0;
  for (;;) {
    const page = JSON.parse(lane('events', '--json', '--job', String(id), '--since', String(since), '--wait', '10s'));
    if (page.events.some((event) => event.type === type)) return;
    since = page.cursor;
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function step(text) {
  process.stdout.write(`\n${paint(1, `▸ ${text}`)}\n`);
}

function cleanUp() {
  if (stopped) return;
  stopped = true;
  spawnSync(process.execPath, [cli, 'server', 'stop', '--force'], { cwd: root, env, stdio: 'ignore' });
  rmSync(scratch, { recursive: true, force: true });
}
