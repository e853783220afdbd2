/** Adding work by typing, watching it run, reading its log. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { journey } from '../host/journey.ts';
import { say } from '../host/steps.ts';

/** A shell that sets PATH anew before each prompt, as environment managers do. */
const LOST = 'PATH="/usr/bin:/bin:$HOME/.local/bin"';
const SHELL = {
  settings: { 'terminal.integrated.defaultProfile.linux': 'bash' },
  homeFiles: { '.bashrc': `${LOST}\nPROMPT_COMMAND='${LOST}'\n` },
};

describe('the window', () => {
  journey('adds a job by typing, shows it running and done, and opens its log', {}, async (window, { sandbox }) => {
    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('node tick.mjs');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 1, node tick\.mjs, running/);
    await window.until('the status bar to count it', async () => /\b1\b/.test(await window.statusBar()));

    await window.unfold('Lanes', /^job 1,/);
    await window.openLog('Lanes', /^attempt 1\b/, /tick \d/);

    await sandbox.write('stop');
    await window.until('its end in the log', async () => /#1\.1 succeeded after/.test(await window.lines('panel')));
    await window.row('Lanes', /^job 1, node tick\.mjs, done/);
    assert.match(await sandbox.lane('output', '1'), /^pid \d+\ntick 1\n/);
  });

  journey('says when a line needs a shell, and passes every argument as typed', {}, async (window, { sandbox }) => {
    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer(`node -p 'process.argv.slice(1).join("|")' -- "a b" '' '$HOME' '*' -x ünï`);
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 1, .*done/);
    assert.equal(await sandbox.lane('output', '1'), 'a b||$HOME|*|-x|ünï\n');

    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('echo one && echo two | cat', 'sh -c');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 2, .*done/);
    assert.equal(await sandbox.lane('output', '2'), 'one\ntwo\n');
  });

  journey(
    'offers to install lane where a shell lost it: one click, and it runs there',
    SHELL,
    async (window, editor) => {
      if (process.platform !== 'linux') return say('skipped: the terminal is bash on Linux only');
      const { sandbox } = editor;
      await window.command('Terminal: Create New Terminal');
      const terminal = window.page.locator('.part.panel .xterm-screen').first();
      const type = async (line: string): Promise<void> => {
        // Messages may lie over its right half.
        await terminal.click({ timeout: 8000, position: { x: 20, y: 20 } });
        await window.page.keyboard.type(`${line}\n`);
      };
      // The first lines may come before the shell does.
      await window.until('the offer', async () => {
        await type('lane --version');
        return (await window.messages()).includes('Install lane');
      });
      await window.press('Install lane');
      await window.until('it to be installed', async () => /Installed .*\/lane\. New/.test(await window.messages()));
      const said = (): Promise<string> => readFile(path.join(sandbox.workspace, 'said.txt'), 'utf8');
      // Read once: a line typed before may be emptying the file again by now.
      const answer = await window.until('its answer', async () => {
        await type('lane --version > said.txt');
        return (await said()).trim();
      });
      assert.equal(answer, (await sandbox.lane('--version')).trim());
    },
  );
});
