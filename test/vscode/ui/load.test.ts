/**
 * The window under load: a hundred events a second while somebody reads, and a queue with a long past. What is looked at
 * is what a person would lose: their place. How little is asked and made meanwhile is counted in `unit/cache.test.ts`;
 * the extension host's processor time is printed, not judged.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fillFinished } from '../../../bench/lib/bulk.ts';
import { PAGE } from '../../../client/vscode/jobLists.ts';
import { connect } from '../../../shared/connect.ts';
import { statePaths } from '../../../shared/paths.ts';
import { Add, Cancel, LanesSet, Pause, SettingsSet, Subscribe } from '../../../shared/protocol.ts';
import { journey } from '../host/journey.ts';
import { ROOT } from '../host/places.ts';
import { say } from '../host/steps.ts';
import type { Sandbox } from '../host/sandbox.ts';
import type { EditorWindow } from '../host/window.ts';

const QUIET = { settings: { 'remote.autoForwardPorts': false } };
/** Nothing is pruned meanwhile. */
const LONG_PAST = { settings: { ...QUIET.settings, 'laneway.retention.days': 365 } };
const LOAD_MS = 5000;
const EVENTS_A_SECOND = 100;
const FINISHED = 20_000;
const MOST_BARS = 5000;
/** Pixels from the top of the timeline to the first row of bars: axis, heading, half a bar. */
const FIRST_ROW_Y = 24 + 26 + 11;

describe('the window', () => {
  journey('keeps one’s place while a hundred events a second come', QUIET, async (window, { sandbox }) => {
    const caller = { env: { PATH: sandbox.env['PATH'] ?? '' }, umask: 0o022 };
    const cwd = sandbox.workspace;
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    const serverBundle = path.join(ROOT, 'dist/server.js');
    const given = { workspace: cwd, env: sandbox.env, client: 'test', version: 'test', serverBundle } as const;
    const connection = await connect({ ...given, start: 'never' });
    await connection.request(SettingsSet, { settings: { concurrency: 4 } });
    await connection.request(LanesSet, { name: 'fast', settings: { slots: 3 } });
    await connection.request(LanesSet, { name: 'held', settings: {} });
    await connection.request(Pause, { lanes: ['held'] });
    const waiting = Array.from({ length: 40 }, (_, nth) => ({ argv: ['echo', `${nth}`], cwd, lane: 'held' }));
    await connection.request(Add, { jobs: waiting, caller });

    await window.openViews();
    await window.unfold('Lanes', /^job 1,/);
    await window.row('Lanes', /^attempt 1, running/);
    await (await window.row('Lanes', /^lane held,/)).hover();
    await window.until('rows further down', async () => {
      await window.page.mouse.wheel(0, 120);
      return (await place(window)).scrolled >= 200;
    });
    await (await window.row('Lanes', /^job 20,/)).click();
    await window.page.mouse.move(900, 300);
    const before = await place(window);
    assert.deepEqual(before.selected, ['job 20']);

    const host = extensionHost(sandbox);
    const { cursor } = await connection.request(Subscribe, null);
    const began = performance.now();
    const cpu = processorMs(host);
    let sent = 0;
    while (performance.now() - began < LOAD_MS) {
      // Three events of a job that runs at once, two of one that is canceled.
      const due = Math.ceil(((performance.now() - began) / 1000) * (EVENTS_A_SECOND / 5)) - sent;
      sent += due;
      const jobs = Array.from({ length: due * 2 }, (_, nth) => ({
        argv: ['true'],
        cwd,
        lane: nth % 2 ? 'fast' : 'held',
      }));
      if (due > 0) {
        const added = await connection.request(Add, { jobs, caller });
        const ids = added.jobs.filter(({ lane }) => lane === 'held').map(({ id }) => id);
        await connection.request(Cancel, { selection: { ids } });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const seconds = (performance.now() - began) / 1000;
    const used = processorMs(host) - cpu;
    const events = ((await connection.request(Subscribe, null)).cursor - cursor) / seconds;
    assert.ok(events > 10, `${events} events a second are no load`);
    if (host !== null) {
      const share = (used / seconds / 10).toFixed(1);
      // The window was opened a moment ago: most of it is the editor's own start, see docs/performance.md.
      say(`${Math.round(events)} events a second; the extension host took ${share} % of a core`);
    }

    // Once this is shown, so is all that came before.
    await sandbox.lane('cancel', '24');
    await window.until(
      'the last change',
      async () => !(await window.rows('Lanes')).some((row) => row.startsWith('job 24,')),
    );
    assert.deepEqual(await place(window), before);
    await connection.close();
  });

  journey('opens a queue with a long past a page at a time', LONG_PAST, async (window, { sandbox }) => {
    const paths = statePaths(sandbox.workspace, sandbox.env);
    mkdirSync(paths.folder, { recursive: true, mode: 0o700 });
    await fillFinished({ paths }, FINISHED);
    await window.openViews();
    await window.unfold('Lanes', /^lane lane1,/);
    await window.row('Lanes', /^job \d+, npm run build, done/);
    assert.equal(await siblings(window, /^job /), PAGE + 1, 'a page, and "Show more…"');
    await window.page.locator('.sidebar .pane-header[aria-label^="Lanes"]').click();
    await window.page.locator('.sidebar .pane-header[aria-label^="States"]').click();
    await window.unfold('States', /^Done, 19230 jobs/);
    await window.row('States', /^job \d+, npm run build, done/);
    assert.equal(await siblings(window, /^job /), PAGE + 1);
    await (await window.row('States', /^Done,/)).hover();
    const more = window.page.locator('.sidebar .monaco-list-row[aria-label^="Show more"]');
    await window.until('another page', async () => {
      await window.page.mouse.wheel(0, 2000);
      if (await more.isVisible()) await more.click({ timeout: 5000 });
      return (await siblings(window, /^job /)) === 2 * PAGE + 1;
    });

    await window.command('Laneway: Show Timeline');
    const page = await window.webview('#canvas[data-bars]');
    const canvas = page.locator('#canvas');
    const bars = async (): Promise<number> => Number(await canvas.getAttribute('data-bars'));
    await window.until('the newest attempts', async () => (await bars()) === MOST_BARS);
    assert.match((await page.locator('#note').textContent()) ?? '', /the newest 5,000 attempts/);
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
    assert.ok(nodes < 100, `${nodes} elements: one canvas, however many attempts`);
    const picture = (): Promise<string> => page.evaluate(() => document.querySelector('canvas')?.toDataURL() ?? '');
    for (const key of ['+', 'Home', '-', 'End', 'f']) {
      const before = await picture();
      await canvas.press(key);
      await window.until(`the picture after ${key}`, async () => (await picture()) !== before);
    }
    await window.until('an attempt under the pointer', async () => {
      const box = await canvas.boundingBox();
      assert.ok(box);
      await window.page.mouse.move(box.x + box.width / 2 + Math.random() * 9, box.y + FIRST_ROW_Y);
      return /npm run build\n(succeeded|failed) after 800 ms/.test((await page.locator('#tip').textContent()) ?? '');
    });
    await sandbox.lane('add', '--', 'node', 'tick.mjs');
    await window.until('what began since', async () => (await bars()) === MOST_BARS + 1);
    await canvas.press('ArrowUp');
    await canvas.press('Enter');
    await window.until('its log', async () => /tick \d/.test(await window.lines('panel')));
  });
});

interface Place {
  /** Pixels the list is scrolled by, and what stands there. */
  scrolled: number;
  selected: string[];
  unfolded: string[];
}

/** What a person would lose if a tree were made anew. */
async function place(window: EditorWindow): Promise<Place> {
  return await window.page
    .locator('.sidebar .monaco-list-rows')
    .first()
    .evaluate((rows) => {
      const name = (row: Element): string => /^[a-z]+ [^,]*/.exec(row.getAttribute('aria-label') ?? '')?.[0] ?? '';
      const named = (which: string): string[] => [...rows.querySelectorAll(which)].map(name).toSorted();
      const scrolled = -Number.parseFloat((rows as HTMLElement).style.top);
      return { scrolled, selected: named('.selected'), unfolded: named('[aria-expanded="true"]') };
    });
}

/** How many stand beside the first row like this, itself among them; drawn or not. */
async function siblings(window: EditorWindow, like: RegExp): Promise<number> {
  const sizes = await window.page
    .locator('.sidebar .monaco-list-row')
    .evaluateAll((rows) =>
      rows.map((row) => [row.getAttribute('aria-label'), row.getAttribute('aria-setsize')] as const),
    );
  return Number(sizes.find(([label]) => like.test(label ?? ''))?.[1]);
}

/** The process that runs the extensions of this editor; null where processes cannot be looked at. */
function extensionHost(sandbox: Sandbox): number | null {
  if (process.platform !== 'linux') return null;
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = pids.find((pid) => {
    try {
      const ours = readFileSync(`/proc/${pid}/environ`, 'utf8').includes(sandbox.home);
      return ours && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('extensionHost');
    } catch {
      return false;
    }
  });
  return found === undefined ? null : Number(found);
}

/** Processor time of a process so far, in milliseconds. */
function processorMs(pid: number | null): number {
  if (pid === null) return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
