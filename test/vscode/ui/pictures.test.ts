/** The pictures of the documentation, in both themes; made only when asked for with --screenshots. */
import { journey, picturesWanted } from '../host/journey.ts';
import type { Sandbox } from '../host/sandbox.ts';

const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern' };

/** A queue in the middle of its work: something of every state. */
async function busy(sandbox: Sandbox): Promise<void> {
  const add = (...args: string[]): Promise<string> => sandbox.lane('add', ...args);
  const node = (ms: number, code = 0): string[] => ['node', '-e', `setTimeout(() => process.exit(${code}), ${ms})`];
  await add('--lane', 'build', '--label', 'npm run build', '--', ...node(900));
  await add('--lane', 'build', '--label', 'npm run lint', '--', ...node(400));
  await add(
    '--lane',
    'tests',
    '--label',
    'npm test',
    '--retries',
    '1',
    '--retry-delay',
    '600ms',
    '--',
    ...node(700, 1),
  );
  await add('--lane', 'build', '--label', 'npm run bundle', '--', ...node(1500));
  await sandbox.lane('wait', '1', '2', '4');
  await sandbox.lane('wait', '3').catch(() => undefined);
  await add('--lane', 'deploy', '--label', './deploy.sh staging', '--after', '2h', '--', 'node', '--version');
  await add('--label', 'npm run dev', '--', 'node', 'tick.mjs');
  await add('--label', 'docs', '--', 'node', '--version');
  await add('--lane', 'tests', '--label', 'npm run e2e', '--', 'node', 'tick.mjs');
  await add('--lane', 'tests', '--label', 'npm run report', '--needs', '8', '--', 'node', '--version');
}

if (picturesWanted()) {
  describe('pictures', () => {
    for (const [name, theme] of Object.entries(THEMES)) {
      journey(`in the ${name} theme`, { settings: { 'workbench.colorTheme': theme } }, async (window, { sandbox }) => {
        await busy(sandbox);
        await window.openViews();
        await window.unfold('Lanes', /^lane build,/);
        await window.unfold('Lanes', /^lane tests,/);
        await window.unfold('Lanes', /^job 3,/);
        await window.unfold('Lanes', /^job 6,/);
        await window.openLog('Lanes', /^attempt 1, running/, /tick \d/);
        await window.page.mouse.move(700, 300);
        await window.screenshot(`overview-${name}`);

        await window.command('Laneway: Show Timeline');
        const page = await window.webview('#canvas[data-bars]');
        await page.locator('#fit').click();
        await window.until('all bars', async () => (await page.locator('#canvas').getAttribute('data-bars')) === '7');
        await page.locator('#canvas').press('ArrowUp');
        await window.page.mouse.move(700, 300);
        await window.screenshot(`timeline-${name}`);

        await window.command('Laneway: Add Job…');
        await window.asked('Type a command');
        await window.page.keyboard.type('npm test -- --grep "two words"');
        await window.until('the argv to be shown', async () => /two words/.test(await window.quickInput()));
        await window.screenshot(`add-${name}`);
      });
    }
  });
}
