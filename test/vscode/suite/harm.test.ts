/** What goes wrong around the extension, or is meant to: it says so, and goes on. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Laneway, Queue } from '../../../client/vscode/context.ts';
import { thisRuntime } from '../../../client/vscode/runtime.ts';
import { JobTree } from '../../../client/vscode/views/jobTree.ts';
import type { Node } from '../../../client/vscode/views/nodes.ts';
import { lanesShape } from '../../../client/vscode/views/shapes.ts';
import type { Job, Lane, Status } from '../../../shared/job.ts';
import { MAX_BATCH } from '../../../shared/limits.ts';
import { statePaths } from '../../../shared/paths.ts';
import { Add, Cancel, List, Prune } from '../../../shared/protocol.ts';
import { waitFor } from '../../helpers/waitFor.ts';
import { add, become, command, extensionApi, jobNow, theQueue } from './support.ts';

const NODE = process.execPath;
const DEADLINE = { deadlineMs: 90_000 };

describe('harm', () => {
  let laneway: Laneway;
  let queue: Queue;
  const stray: unknown[] = [];
  const onStray = (reason: unknown): void => {
    if (reason instanceof Error && reason.stack?.includes('extension.js')) stray.push(reason);
  };

  before(async () => {
    ({ laneway } = await extensionApi());
    queue = await theQueue();
    process.on('unhandledRejection', onStray);
  });
  after(() => {
    process.off('unhandledRejection', onStray);
    assert.deepEqual(stray.map(String), [], 'no rejection of the extension was left unhandled');
  });

  async function withTree(work: (tree: JobTree) => Promise<void>): Promise<void> {
    const tree = new JobTree(
      laneway,
      lanesShape(() => ''),
    );
    try {
      tree.setVisible(true);
      await work(tree);
    } finally {
      tree.dispose();
    }
  }
  async function laneNode(tree: JobTree, name: string): Promise<Node> {
    return await waitFor(
      async () => (await tree.getChildren()).find((node) => node.kind === 'lane' && node.lane.name === name),
      DEADLINE,
    );
  }

  it('a command line full of markup and controls is shown as text', async () => {
    const evil = ['echo', '\u001b[31m\u202e', '$(error)', '[x](command:workbench.action.quit)', '<img src=x>', '```'];
    const job = await add({ argv: evil, lane: 'evil', afterMs: 3_600_000, tags: { note: '[y](command:z)' } });
    await withTree(async (tree) => {
      const node = (await tree.getChildren(await laneNode(tree, 'evil'))).find((each) => each.kind === 'job');
      assert.ok(node);
      const { label, tooltip } = tree.resolveTreeItem(tree.getTreeItem(node), node);
      assert.ok(typeof label === 'string', 'a plain string, whose icons the tree does not draw');
      assert.doesNotMatch(label, /[\p{Cc}\u202e]/u);
      assert.ok(tooltip instanceof vscode.MarkdownString);
      assert.ok(!tooltip.isTrusted && !tooltip.supportHtml && !tooltip.supportThemeIcons);
      assert.ok(tooltip.value.includes('\\[y\\]\\(command:z\\)'), tooltip.value);
      assert.match(tooltip.value, /^`{4,}shellscript$/m, 'a fence that the command does not close');
    });
    await command('laneway.cancelJob', job.id);
  });

  it('ten thousand jobs are a page of nodes', async () => {
    await command('laneway.configureLane', 'many', { slots: 1 });
    assert.equal((await command<Lane | undefined>('laneway.pauseLane', 'many'))?.paused, true);
    const caller = { env: { PATH: process.env['PATH'] ?? '' }, umask: 0o22 };
    for (let begun = 0; begun < 10_000; begun += MAX_BATCH) {
      const jobs = Array.from({ length: Math.min(MAX_BATCH, 10_000 - begun) }, (_, nth) => ({
        argv: [NODE, String(begun + nth)],
        cwd: queue.root,
        lane: 'many',
      }));
      await queue.request(Add, { jobs, caller });
    }
    await withTree(async (tree) => {
      // So many events at once make every list be read anew.
      await waitFor(() => queue.cache.cursor === queue.cache.hint?.cursor, DEADLINE);
      const nodes = await tree.getChildren(await laneNode(tree, 'many'));
      assert.ok(nodes.length <= 60, `${nodes.length} nodes`);
      const more = nodes.find((node) => node.kind === 'more');
      assert.ok(more);
      await command('laneway.showMore', more);
      const twice = await tree.getChildren(await laneNode(tree, 'many'));
      assert.ok(
        twice.length > nodes.length && twice.length <= 120,
        `${twice.length} nodes: ${twice.map((node) => node.id.split('/').at(-1)).join(' ')}`,
      );
    });
    await queue.request(Cancel, { selection: { all: true, lane: 'many' } });
  });

  it('a job that was pruned meanwhile is named, whatever is asked of it', async () => {
    const job = await add({ argv: [NODE, '-e', '0'], lane: 'pruned' });
    await become(job.id, 'done');
    const handle = { queue, job: await jobNow(job.id) };
    await waitFor(async () => {
      await queue.request(Prune, { olderThanMs: null, states: ['done'], dryRun: false });
      return (await queue.request(List, { ids: [job.id] })).jobs.length === 0;
    }, DEADLINE);
    for (const id of ['showLog', 'openLog', 'cancelJob', 'retryJob', 'rerunJob', 'copyCommand', 'showTimeline']) {
      const answer = await command<unknown>(`laneway.${id}`, handle);
      assert.ok(answer === undefined || id === 'showTimeline', id);
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('a server that dies in a burst loses no job that it answered for, and every command ends', async () => {
    await queue.connect();
    const before = queue.welcome?.server.pid;
    assert.ok(before);
    const asked = Array.from({ length: 40 }, (_, nth) =>
      command<Job | undefined>('laneway.addJob', { argv: [NODE, '-e', '0'], lane: 'burst', label: `burst ${nth}` }),
    );
    await asked[0];
    process.kill(before, 'SIGKILL');
    const answered = (await Promise.all(asked)).filter((job) => job !== undefined);
    await waitFor(() => queue.state === 'ready' && queue.welcome?.server.pid !== before, DEADLINE);
    const { jobs } = await queue.request(List, { ids: answered.map(({ id }) => id), limit: 100 });
    assert.equal(jobs.length, answered.length);
    await become(answered.at(-1)!.id, 'done');
  });

  it('what listens in the place of a server is told from one, and not waited for without end', async () => {
    const { ServerConnection } = await import('../../../client/vscode/connection.ts');
    const folder = vscode.workspace.workspaceFolders![0]!;
    const cases: [answer: (socket: net.Socket) => void, told: RegExp][] = [
      [(socket) => socket.resume(), /the server does not answer \(waited 0\.5 s\)/],
      [
        (socket) => socket.on('data', () => socket.write('HTTP/1.1 400 Bad\r\n\r\nBad\r\n\r\n')),
        /is no Laneway server/,
      ],
      [(socket) => socket.destroy(), /ended before it answered/],
    ];
    for (const [answer, told] of cases) {
      const workspace = await realpath(await mkdtemp(path.join(tmpdir(), 'laneway-other-')));
      const { socket } = statePaths(workspace, process.env);
      const open = new Set<net.Socket>();
      const other = net.createServer((each) => {
        open.add(each.on('error', () => undefined));
        answer(each);
      });
      await new Promise<void>((resolve) => other.listen(socket, resolve));
      try {
        const connection = new ServerConnection({
          workspace,
          folder,
          env: process.env,
          runtime: thisRuntime(),
          serverBundle: '',
          version: '0.0.0',
          log: laneway.log,
          methods: [],
          welcomeMs: 500,
          onReconnecting: () => undefined,
          onReconnected: () => undefined,
          onHandshakeLost: () => undefined,
          onLost: () => undefined,
          onMessage: () => undefined,
        });
        await assert.rejects(connection.start(), told);
      } finally {
        for (const each of open) each.destroy();
        other.close();
        await rm(workspace, { recursive: true });
      }
    }
  });

  it('lane is installed by one command, and runs', async function () {
    if (process.platform === 'win32') this.skip();
    const home = await realpath(await mkdtemp(path.join(tmpdir(), 'laneway-home-')));
    try {
      await writeFile(path.join(home, '.profile'), 'PATH="/usr/bin:/bin:$HOME/.local/bin"\nexport PATH\n');
      const installed = await command<{ file: string; found: boolean }>('laneway.installCli', {
        home,
        shell: '/bin/sh',
      });
      assert.deepEqual([installed.file, installed.found], [path.join(home, '.local/bin/lane'), true]);
      const { stdout } = await promisify(execFile)(installed.file, ['--workspace', queue.root, '--json', 'status']);
      assert.equal(typeof (JSON.parse(stdout) as Status).counts.done, 'number');
      await writeFile(installed.file, 'mine');
      assert.equal(await command('laneway.installCli', { home, shell: '/bin/sh' }), undefined);
      assert.equal(await readFile(installed.file, 'utf8'), 'mine');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it("a removed folder's queue is deleted, with its logs", async () => {
    const gone = await realpath(await mkdtemp(path.join(tmpdir(), 'laneway-gone-')));
    const { folder } = statePaths(gone, process.env);
    const cli = path.join(laneway.extension.extensionPath, 'dist/cli.js');
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
    const words = ['--workspace', gone, '--direct', 'add', '--after', '1h', '--', 'echo'];
    await promisify(execFile)(NODE, [cli, ...words], { env, cwd: gone });
    assert.ok(existsSync(folder));
    await rm(gone, { recursive: true });
    assert.deepEqual(await command('laneway.removeQueues', { paths: [gone] }), [gone]);
    assert.ok(!existsSync(folder));
    assert.equal(await command('laneway.removeQueues', { paths: [gone] }), undefined, 'a message the second time');
  });
});
