/** Logs in channels, documents and terminals, and the timeline's panel. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { waitFor } from '../../helpers/waitFor.ts';
import { add, become, command, textOf, touch, untouch } from './support.ts';

/** What the log commands answer with. */
interface ShownLog {
  jobId: number;
  attempt: number;
  shown: string;
}

/** Prints colours, a redrawn line, bytes that are no UTF-8, and a very long line. */
const MESSY = `process.stdout.write('\\u001b[31mred\\u001b[0m\\n');
for (let n = 1; n <= 500; n += 1) process.stdout.write('\\r' + n + '/500');
process.stdout.write('\\n');
process.stdout.write(Buffer.from([0x61, 0xff, 0x62, 0x0a]));
process.stdout.write('x'.repeat(100000) + '\\n');`;

describe('logs', () => {
  afterEach(() => untouch('stop'));

  it('a channel follows a running job and ends with how it ended', async () => {
    const job = await add({ argv: ['node', 'tick.mjs'] });
    await become(job.id, 'running');
    const log = await command<ShownLog>('laneway.showLog', job.id);
    assert.equal(log.shown, `Laneway #${job.id}.1 node tick.mjs`);
    await waitFor(() => textOf(log.shown, 'output')?.includes('tick 3'), { what: 'live output' });
    await touch('stop');
    await waitFor(() => textOf(log.shown, 'output')?.includes(`[#${job.id}.1 succeeded after`), { what: 'the end' });
    const text = textOf(log.shown, 'output') ?? '';
    assert.match(text, /^pid \d+\ntick 1\ntick 2\n/);
    assert.ok(text.trimEnd().split('\n').at(-1)?.startsWith('[#'), 'the last line says how it ended');
    const again = await command<ShownLog>('laneway.showLog', job.id);
    assert.equal(again.shown, log.shown, 'the same channel again');
  });

  it('a document shows it without colours, redraws collapsed, undecodable bytes marked', async () => {
    const job = await add({ argv: ['node', '-e', MESSY], label: 'messy' });
    await become(job.id, 'done');
    const log = await command<ShownLog>('laneway.openLog', job.id);
    const document = await waitFor(
      () => vscode.workspace.textDocuments.find((each) => each.uri.toString() === log.shown),
      { what: 'the document' },
    );
    await waitFor(() => document.getText().includes('succeeded after'), { what: 'the whole log in the document' });
    const [red, progress, bytes, long, note] = document.getText().split('\n');
    assert.deepEqual([red, progress, bytes], ['red', '500/500', 'a\uFFFDb']);
    assert.equal(long?.length, 100_000);
    assert.match(note ?? '', /^\[1 place marked/);
    assert.equal(document.uri.scheme, 'laneway-log', 'a scheme nothing can be written to');
  });

  it('a terminal shows it too', async () => {
    const job = await add({ argv: ['node', '-e', MESSY], label: 'messy again' });
    await become(job.id, 'done');
    const log = await command<ShownLog>('laneway.openLogInTerminal', job.id);
    const terminal = await waitFor(() => vscode.window.terminals.find((each) => each.name === log.shown), {
      what: 'the terminal',
    });
    terminal.dispose();
    await waitFor(() => !vscode.window.terminals.includes(terminal), { what: 'the terminal to close' });
  });

  it('attempts have logs of their own; the newest can take the place of the earlier', async () => {
    await untouch('mended');
    const job = await add({ argv: ['node', 'flaky.mjs'] });
    await become(job.id, 'dead');
    const first = await command<ShownLog>('laneway.showLog', job.id);
    await waitFor(() => textOf(first.shown, 'output')?.includes('failed with exit code 3'), { what: 'the failure' });
    assert.match(textOf(first.shown, 'output') ?? '', /^something broke\n/);
    await touch('mended');
    await command('laneway.retryJob', job.id);
    await become(job.id, 'done');
    const second = await command<ShownLog>('laneway.showLog', job.id, { reuse: true });
    assert.equal(second.attempt, 2);
    await waitFor(() => textOf(second.shown, 'output')?.includes('all is well'), { what: 'the second log' });
    const both = await command<ShownLog>('laneway.showLog', { job: { id: job.id }, attempt: 1 });
    assert.equal(both.attempt, 1);
  });

  it('a job that has not started says so instead of showing nothing', async () => {
    const job = await add({ argv: ['node', '--version'], afterMs: 3_600_000 });
    assert.equal(await command('laneway.showLog', job.id), undefined);
    await command('laneway.cancelJob', job.id);
  });
});

describe('the timeline', () => {
  it('opens once per folder, as a tab', async () => {
    const shown = await command<{ folder: string }>('laneway.showTimeline');
    await command('laneway.showTimeline');
    assert.ok(shown.folder.endsWith('project'));
    const tabs = (): vscode.Tab[] =>
      vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => tab.label.startsWith('Timeline: '));
    await waitFor(() => tabs().length === 1, { what: 'one tab' });
    await vscode.window.tabGroups.close(tabs());
  });
});
