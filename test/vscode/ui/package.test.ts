/** What users install: the VSIX, with nothing of the checkout beside it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { journey } from '../host/journey.ts';
import { node24, ROOT } from '../host/places.ts';
import { run } from '../host/processes.ts';
import { step } from '../host/steps.ts';

async function makePackage(): Promise<{ vsix: string }> {
  const vsix = path.join(ROOT, '.build/laneway-test.vsix');
  await step('making the VSIX', { deadlineMs: 180_000 }, (signal) =>
    run(node24(), [path.join(ROOT, 'scripts/package.mjs'), '--out', vsix], { cwd: ROOT, signal }),
  );
  return { vsix };
}

describe('the window', () => {
  journey('runs a job with the extension installed from its VSIX', makePackage, async (window, { sandbox }) => {
    await window.openViews();
    await window.command('Laneway: Add Job…');
    await window.asked('Type a command');
    await window.answer('node tick.mjs');
    await window.asked('Which lane?');
    await window.answer('default');
    await window.row('Lanes', /^job 1, .*running/);
    // The CLI of the checkout and the server of the package speak to one another.
    const { pid } = JSON.parse(await sandbox.lane('server', 'status', '--json')) as { pid: number };
    if (process.platform === 'linux') {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8');
      assert.match(line, /extensions\/laneway\.laneway-[^/]*\/dist\/server\.js/, 'the server is the package’s own');
    }
    await sandbox.write('stop');
    await sandbox.lane('wait', '1');
    assert.match(await sandbox.lane('output', '1'), /tick 1/);
  });
});
