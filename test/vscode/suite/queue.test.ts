/** The extension in a real editor: its commands by id, its trees, its settings, its task type. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { LanewayApi } from '../../../client/vscode/extension.ts';
import type { Laneway, Queue } from '../../../client/vscode/context.ts';
import { JobTree } from '../../../client/vscode/views/jobTree.ts';
import type { Node } from '../../../client/vscode/views/nodes.ts';
import { lanesShape, statesShape } from '../../../client/vscode/views/shapes.ts';
import type { Job, Lane, Server, Status } from '../../../shared/job.ts';
import { type JobResult, Lanes, List, ServerStop, Wait } from '../../../shared/protocol.ts';
import { waitFor } from '../../helpers/waitFor.ts';

const DEADLINE = { deadlineMs: 60_000 };
const NODE = process.execPath;

async function command<T>(id: string, ...args: unknown[]): Promise<T> {
  const result: unknown = await vscode.commands.executeCommand(`laneway.${id}`, ...args);
  return result as T;
}

describe('the queue from the editor', () => {
  let laneway: Laneway;
  let queue: Queue;

  before(async () => {
    const extension = vscode.extensions.getExtension<LanewayApi>('laneway.laneway');
    assert.ok(extension, 'the extension is there');
    ({ laneway } = await extension.activate());
    const [first] = laneway.queues();
    assert.ok(first, 'one folder, one queue');
    queue = first;
    // A failure here says why; through a command it would only be a message.
    await queue.connect();
  });

  async function ended(job: Job): Promise<Job> {
    const { jobs } = await queue.request(Wait, { selection: { ids: [job.id] }, timeoutMs: DEADLINE.deadlineMs });
    const [last] = jobs;
    assert.ok(last);
    return last;
  }
  const script = (code: string): string[] => [NODE, '-e', code];

  it('registers every contributed command', async () => {
    const known = new Set(await vscode.commands.getCommands(true));
    const manifest = vscode.extensions.getExtension('laneway.laneway')?.packageJSON as {
      contributes: { commands: { command: string }[] };
    };
    for (const { command: id } of manifest.contributes.commands) assert.ok(known.has(id), id);
  });

  it('puts a working lane on the PATH of terminals', async () => {
    const variables = laneway.extension.environmentVariableCollection;
    const mutator = await waitFor(() => variables.get('PATH'), DEADLINE);
    assert.equal(mutator.type, vscode.EnvironmentVariableMutatorType.Prepend);
    const lane = path.join(
      mutator.value.split(path.delimiter)[0] ?? '',
      process.platform === 'win32' ? 'lane.cmd' : 'lane',
    );
    const { stdout } = await promisify(execFile)(lane, ['--workspace', queue.root, '--json', 'status']);
    assert.equal(typeof (JSON.parse(stdout) as Status).counts.done, 'number');
    const scoped = variables.getScoped({ workspaceFolder: queue.folder }).get('LANEWAY_WORKSPACE');
    assert.equal(scoped?.value, queue.root);
  });

  it('adds a job object without asking, and the job gets exactly that argv', async () => {
    const words = ['a b', '', '$HOME', '*', '-x', "it's", 'ä', 'line\nbreak'];
    const argv = [...script('process.exit(process.argv.length === 9 ? 0 : 3)'), ...words];
    const job = await command<Job>('addJob', { argv, lane: 'exact', label: 'exact' });
    assert.deepEqual(job.argv, argv);
    const last = await ended(job);
    assert.equal(last.state, 'done', JSON.stringify(last));
    const same = await command<Job>('findJob', job.id);
    assert.equal(same.state, 'done');
  });

  it('cancels, retries, reruns and bumps by id, and answers with the results', async () => {
    const long = await command<Job>('addJob', { argv: script('setInterval(() => 0, 1000)'), lane: 'verbs' });
    const waiting = await command<Job>('addJob', { argv: script('0'), lane: 'verbs' });
    const [moved] = await command<JobResult[]>('bumpJob', waiting.id, { priority: 7 });
    assert.equal(moved?.error, null);
    const [canceled] = await command<JobResult[]>('cancelJob', long.id);
    assert.equal(canceled?.error, null);
    assert.equal((await ended(long)).state, 'canceled');
    assert.equal((await ended(waiting)).priority, 7);
    const failing = await ended(await command<Job>('addJob', { argv: script('process.exit(4)'), lane: 'verbs' }));
    assert.equal(failing.state, 'dead');
    const [retried] = await command<JobResult[]>('retryJob', { queue, job: failing });
    assert.equal(retried?.error, null);
    const again = await ended(failing);
    assert.equal(again.attempts, 2);
    const [rerun] = await command<Job[]>('rerunJob', failing);
    assert.equal(rerun?.rerunOf, failing.id);
  });

  it('answers a failure with a message, not with an exception', async () => {
    assert.equal(await command('retryJob', 999_999), undefined);
    assert.equal(await command('addJob', { argv: [] }), undefined);
  });

  it('pauses, resumes and configures lanes', async () => {
    await command<Job>('addJob', { argv: script('0'), lane: 'conf' });
    assert.equal((await command<Lane>('pauseLane', 'conf')).paused, true);
    assert.equal((await command<Lane>('resumeLane', 'conf')).paused, false);
    assert.equal((await command<Lane>('setSlots', 'conf', 3)).slots, 3);
    assert.equal((await command<Lane>('configureLane', 'conf', { maxRetries: 2 })).maxRetries, 2);
  });

  it('writes the lanes of the settings when they change, and leaves alone what others set since', async () => {
    const config = vscode.workspace.getConfiguration('laneway');
    const set = async (name: string, value: unknown): Promise<void> =>
      await config.update(name, value, vscode.ConfigurationTarget.Global);
    const rows = async (): Promise<Lane[]> => (await queue.request(Lanes, null)).lanes;
    const row = async (): Promise<Lane | undefined> => (await rows()).find(({ name }) => name === 'fromSettings');
    const concurrency = async (): Promise<number | undefined> =>
      (await command<Status>('showStatus')).workers[0]?.concurrency;
    const lane = { slots: 4, timeout: '5m', grace: '3s', retries: 2, retryDelay: '1s', retryMaxDelay: '9s' };
    try {
      await set('lanes', { fromSettings: { ...lane, pauseOnFailure: true } });
      const written = await waitFor(row, DEADLINE);
      const { slots, timeoutMs, cancelGraceMs, maxRetries, retryDelayMs, retryMaxDelayMs, pauseOnFailure } = written;
      assert.deepEqual(
        [slots, timeoutMs, cancelGraceMs, maxRetries, retryDelayMs, retryMaxDelayMs, pauseOnFailure],
        [4, 300_000, 3000, 2, 1000, 9000, true],
      );
      await command<Lane>('configureLane', 'fromSettings', { slots: 7 });
      await set('maxConcurrency', 5);
      await waitFor(async () => (await concurrency()) === 5, DEADLINE);
      assert.equal((await row())?.slots, 7, 'another setting undoes nothing');
      // A mistake anywhere, and nothing of it is written; what is written next shows that it was looked at.
      await set('lanes', { fromSettings: { slots: 0 }, refused: { slots: 2 } });
      await set('maxConcurrency', 6);
      await waitFor(async () => (await concurrency()) === 6, DEADLINE);
      assert.deepEqual(
        (await rows()).filter(({ name }) => name === 'refused'),
        [],
      );
      assert.equal((await row())?.slots, 7);
    } finally {
      await set('maxConcurrency', undefined);
      await set('lanes', undefined);
    }
    await waitFor(async () => (await row())?.slots === 1 && (await row())?.timeoutMs === null, DEADLINE);
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
  });

  it('copies the command line, filters, and tells the status', async () => {
    const job = await command<Job>('addJob', { argv: ['echo', 'a b'], lane: 'copy' });
    assert.equal(await command<string>('copyCommand', job.id), "echo 'a b'");
    assert.equal(await command<string>('filterJobs', 'a b'), 'a b');
    await command('clearFilter');
    const status = await command<Status>('showStatus');
    assert.ok(status.server.pid);
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    assert.equal(typeof (await command<{ deleted: number }>('pruneJobs', { dryRun: true })).deleted, 'number');
  });

  it('shows lanes, jobs, attempts in its trees, and repaints only what changed', async () => {
    const tree = new JobTree(
      laneway,
      lanesShape(() => ''),
    );
    const states = new JobTree(
      laneway,
      statesShape(() => ''),
    );
    const fired: (Node[] | undefined)[] = [];
    try {
      tree.setVisible(true);
      states.setVisible(true);
      const lane = (await tree.getChildren()).find((node) => node.kind === 'lane' && node.lane.name === 'exact');
      assert.ok(lane);
      const [first] = await tree.getChildren(lane);
      assert.equal(first?.kind, 'job');
      const attempts = await tree.getChildren(first);
      assert.equal(attempts[0]?.kind, 'attempt');
      assert.equal(tree.getTreeItem(attempts[0]!).command?.command, 'laneway.showLog');
      assert.equal(tree.getParent(first!), lane);
      const groups = await states.getChildren();
      assert.equal(groups.length, 7);
      tree.onDidChangeTreeData((nodes) => fired.push(nodes));
      const job = await command<Job>('addJob', { argv: script('0'), lane: 'exact' });
      await ended(job);
      await waitFor(
        async () =>
          (await tree.getChildren(lane)).some(
            (node) => node.kind === 'job' && node.job.id === job.id && node.job.state === 'done',
          ),
        DEADLINE,
      );
      assert.ok(fired.length > 0);
      assert.ok(
        fired.every((nodes) => nodes !== undefined),
        'the root is left alone',
      );
      assert.equal(
        (await tree.getChildren()).find((node) => node.id === lane.id),
        lane,
        'nodes keep their identity',
      );
    } finally {
      tree.dispose();
      states.dispose();
    }
  });

  it('runs a task of its type, with the output in its terminal and the exit code of the job', async () => {
    const definition = {
      type: 'laneway',
      argv: script('console.log("from the task"); process.exit(5)'),
      lane: 'tasks',
    };
    const folder = vscode.workspace.workspaceFolders![0]!;
    const tasks = { version: '2.0.0', tasks: [{ ...definition, label: 'exits with five', problemMatcher: [] }] };
    await vscode.workspace.getConfiguration('tasks', folder).update('tasks', tasks.tasks);
    const found = await waitFor(async () =>
      (await vscode.tasks.fetchTasks()).find(({ name }) => name === 'exits with five'),
    );
    const code = new Promise<number | undefined>((resolve) => {
      const listening = vscode.tasks.onDidEndTaskProcess((event) => {
        if (event.execution.task.name !== 'exits with five') return;
        listening.dispose();
        resolve(event.exitCode);
      });
    });
    await vscode.tasks.executeTask(found);
    assert.equal(await code, 5);
    const { jobs } = await queue.request(List, { lane: 'tasks', limit: 10 });
    assert.equal(jobs[0]?.label, 'exits with five');
    assert.equal(jobs[0]?.state, 'dead');
  });

  it('writes nothing to its socket while its views are hidden, and still counts', async () => {
    await vscode.commands.executeCommand('workbench.view.explorer');
    await queue.request(List, { limit: 1 });
    const written: string[] = [];
    // Whatever this process sends to a server passes here: messages are framed by their length.
    type Write = (this: net.Socket, chunk: string | Uint8Array, ...more: []) => boolean;
    const write = Reflect.get(net.Socket.prototype, 'write') as Write;
    Object.assign(net.Socket.prototype, {
      write(this: net.Socket, chunk: string | Uint8Array, ...more: []) {
        const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
        if (/^Content-Length:|"laneway\//.test(text)) written.push(text);
        return write.call(this, chunk, ...more);
      },
    });
    try {
      const cli = path.join(laneway.extension.extensionPath, 'dist/cli.js');
      const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
      // What was under way when the views were hidden may end in the first round.
      await waitFor(async () => {
        written.length = 0;
        const before = queue.cache.counts?.done ?? 0;
        await promisify(execFile)(NODE, [cli, '--workspace', queue.root, 'add', '--', ...script('0')], { env });
        await waitFor(() => (queue.cache.counts?.done ?? 0) > before, DEADLINE);
        return written.length === 0;
      }, DEADLINE);
      await queue.request(List, { limit: 1 });
      assert.notDeepEqual(written, [], 'what is asked for does pass');
    } finally {
      Object.assign(net.Socket.prototype, { write });
    }
  });

  it('goes on with another server after a restart', async () => {
    const before = queue.welcome?.server.pid;
    const server = await command<Server>('restartServer', { force: true });
    assert.ok(server.pid);
    assert.notEqual(server.pid, before);
    assert.equal((await ended(await command<Job>('addJob', { argv: script('0') }))).state, 'done');
  });

  it('takes the connection up again when the server was killed, also while it dies', async () => {
    for (let nth = 0; nth < 3; nth += 1) {
      const pid = queue.welcome?.server.pid;
      assert.ok(pid);
      process.kill(pid, 'SIGKILL');
      await waitFor(() => queue.state === 'ready' && queue.welcome?.server.pid !== pid, DEADLINE);
    }
    assert.equal((await ended(await command<Job>('addJob', { argv: script('0') }))).state, 'done');
  });

  it('leaves a server alone that was stopped on purpose, until something is asked of it', async () => {
    await queue.request(ServerStop, { force: true });
    await waitFor(() => queue.state === 'off' && queue.stopped, DEADLINE);
    assert.equal((await ended(await command<Job>('addJob', { argv: script('0') }))).state, 'done');
    assert.equal(queue.stopped, false);
  });
});
