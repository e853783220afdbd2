/** What users install: the VSIX, with nothing of the checkout beside it, and what its jobs outlive. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { statePaths } from '../../../shared/paths.ts';
import { journey } from '../host/journey.ts';
import { makeLaterPackage, makePackage } from '../host/packages.ts';
import type { Sandbox } from '../host/sandbox.ts';
import type { Editor } from '../host/editor.ts';
import type { EditorWindow } from '../host/window.ts';

const RUNNING = /^job 1, .*running/;

describe('the window', () => {
  journey(
    'runs a job with the extension installed from its VSIX, over a crash of it and two updates',
    async () => ({ vsix: await makePackage() }),
    async (window, editor) => {
      const { sandbox } = editor;
      await everyLinkLeadsSomewhere(editor);
      await window.openViews();
      await window.command('Laneway: Add Job…');
      await window.asked('Type a command');
      await window.answer('node tick.mjs');
      await window.asked('Which lane?');
      await window.answer('default');
      await window.row('Lanes', RUNNING);
      // The CLI of the checkout and the server of the package speak to one another.
      const pids = await both(sandbox);
      if (process.platform === 'linux') {
        const line = await readFile(`/proc/${pids.server}/cmdline`, 'utf8');
        assert.match(line, /extensions\/laneway\.laneway-[^/]*\/dist\/server\.js/, 'the server is the package’s own');
        await crash(window, editor);
        assert.deepEqual(await both(sandbox), pids, 'server and job have not noticed');
      }
      await update(window, editor, await makeLaterPackage({ version: '90.0.0', protocolsLater: 0 }));
      await window.row('Lanes', RUNNING);
      assert.deepEqual(await both(sandbox), pids, 'what talks the same is left running');
      await window.command('Laneway: Show Status');
      const says = new RegExp(`server (?!90)[\\d.]+ \\(process ${pids.server}\\)`);
      await window.until('the version that runs', async () => says.test(await window.quickInput()));
      await window.page.keyboard.press('Escape');
      // The server's files are gone: what it needs it has.
      await sandbox.lane('add', '--lane', 'other', '--', 'node', '--version');
      await sandbox.lane('wait', '2');
      await sandbox.lane('add', '--', 'node', 'tick.mjs');
      await window.row('Lanes', /^job 3, .*queued/);

      await update(window, editor, await makeLaterPackage({ version: '91.0.0', protocolsLater: 1 }));
      await handOver(window, sandbox);
    },
  );
});

/** Process ids of the server and of job 1. */
async function both(sandbox: Sandbox): Promise<{ server: number; job: string }> {
  const { pid } = JSON.parse(await sandbox.lane('server', 'status', '--json')) as { pid: number };
  const job = /^pid (\d+)/.exec(await sandbox.lane('output', '1'))?.[1] ?? assert.fail('it says its pid');
  return { server: pid, job };
}

/** Ends the process that runs the extensions, which the editor starts again. */
async function crash(window: EditorWindow, editor: Editor): Promise<void> {
  const [host, ...others] = await editor.extensionHosts();
  assert.ok(host !== undefined && others.length === 0, 'one window, one extension host');
  const before = await window.rows('Lanes');
  process.kill(host, 'SIGKILL');
  await window.until('the trees to lose their provider', async () => (await window.rows('Lanes')).length === 0);
  await window.until('the trees to come back', async () => {
    assert.doesNotMatch(await window.sideBar(), /No jobs yet/, 'nothing untrue is said meanwhile');
    return (await window.rows('Lanes')).some((row) => RUNNING.test(row));
  });
  const kind = (rows: string[]): string[] => rows.map((row) => row.replace(/, \d+ m?s$|, \d+ m.*$/, ''));
  assert.deepEqual(kind(await window.rows('Lanes')), kind(before), 'nothing twice, nothing missing');
}

/** Installs a later version and deletes the one before, as the editor does in time; then reloads. */
async function update(window: EditorWindow, editor: Editor, vsix: string): Promise<void> {
  const installed = async (): Promise<string[]> =>
    (await readdir(editor.extensionsFolder)).filter((name) => name.startsWith('laneway.laneway-'));
  const before = await installed();
  await editor.install(vsix);
  for (const name of before) await rm(path.join(editor.extensionsFolder, name), { recursive: true, force: true });
  await window.reload();
  await window.openViews();
}

/** A version of a later protocol: the server before finishes its job, everybody sees why it is waited for, and the next takes over. */
async function handOver(window: EditorWindow, sandbox: Sandbox): Promise<void> {
  const why = /an older server \(version [\d.]+\) first finishes 1 running job/;
  await window.until('the reason in the view', async () => {
    const side = await window.sideBar();
    return why.test(side) && /first finishes the jobs that run on it/.test(side);
  });
  assert.match(await window.statusItem(), why);
  assert.match(await window.messages(), why);
  await sandbox.write('stop');
  await window.row('Lanes', /^job 3, .*done/);
  await window.idle();
  const refused = /speaks protocol \d+, server 91\.0\.0 speaks protocol \d+/;
  await assert.rejects(sandbox.lane('list'), refused);
  const { pid } = JSON.parse(await readFile(statePaths(sandbox.workspace, sandbox.env).serverFile, 'utf8')) as {
    pid: number;
  };
  process.kill(pid);
}

/** What the package's pages link to or show is in the package. */
async function everyLinkLeadsSomewhere({ extensionsFolder }: Editor): Promise<void> {
  const name = (await readdir(extensionsFolder)).find((each) => each.startsWith('laneway.laneway-'));
  const folder = path.join(extensionsFolder, name ?? assert.fail('it is installed'));
  const pages = (await readdir(folder, { recursive: true })).filter((each) => each.endsWith('.md'));
  assert.ok(pages.some((page) => page.toLowerCase() === 'readme.md'));
  for (const page of pages) {
    const text = await readFile(path.join(folder, page), 'utf8');
    for (const [, inText, inTag] of text.matchAll(/\]\(([^)\s]+)[^)]*\)|(?:src|srcset|href)="([^"]+)"/g)) {
      const link = inText ?? inTag ?? '';
      if (/^(?:https?:|mailto:|command:|#)/.test(link)) continue;
      const target = path.resolve(folder, path.dirname(page), link.replace(/#.*/, ''));
      assert.ok(target.startsWith(folder + path.sep) && existsSync(target), `${page} links to ${link}`);
    }
  }
}
