/** The pictures of the documentation, in every kind of theme; made only when asked for with --screenshots. */
import { journey, picturesWanted } from '../host/journey.ts';
import type { Sandbox } from '../host/sandbox.ts';
import type { EditorWindow } from '../host/window.ts';

const THEMES = { dark: 'Dark Modern', light: 'Light Modern', contrast: 'Dark High Contrast' };
/** Nothing in the pictures that is not about Laneway. */
const PLAIN = { 'window.commandCenter': false, 'window.title': 'project', 'remote.autoForwardPorts': false };
const ELSEWHERE = '[id*="forwardedPorts"], [id*="keyboardLayout"], .statusbar-item[aria-label^="Layout"]';

/** A theme as a person chooses it: high contrast is not taken from the settings while the window loads. */
async function choose(window: EditorWindow, theme: string): Promise<void> {
  const chosen = theme.includes('Contrast') ? 'themes-hc_' : `themes-${theme.toLowerCase().replace(' ', '_')}`;
  const workbench = window.page.locator(`.monaco-workbench[class*="${chosen}"]`);
  const offered = window.page.locator('.quick-input-widget .monaco-list-row', { hasText: theme }).first();
  await window.until(`the theme ${theme}`, async () => {
    if (await workbench.isVisible()) return true;
    // Offered only once the editor has found its themes: asked again until then.
    await window.command('Preferences: Color Theme');
    await window.asked('Select Color Theme');
    await window.page.keyboard.type(theme);
    await offered.click({ timeout: 8000 });
    await workbench.waitFor({ timeout: 8000 });
    return true;
  });
}

/** The machine may be slow, but what the pictures show is not. */
async function settled(window: EditorWindow): Promise<void> {
  const loading = window.page.locator('.sidebar .codicon-tree-item-loading');
  await window.until('nothing that is being read', async () => (await loading.count()) === 0);
}

/** Room for what stands behind a job's name. */
async function widen(window: EditorWindow): Promise<void> {
  const { mouse } = window.page;
  await mouse.move(349, 500);
  await mouse.down();
  await mouse.move(440, 500, { steps: 5 });
  await mouse.up();
}

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
      journey(`in the ${name} theme`, { settings: PLAIN }, async (window, { sandbox }) => {
        await choose(window, theme);
        await window.page.addStyleTag({ content: `${ELSEWHERE} { display: none !important; }` });
        await busy(sandbox);
        await window.openViews();
        await widen(window);
        await window.unfold('Lanes', /^lane build,/);
        await window.unfold('Lanes', /^lane tests,/);
        await window.unfold('Lanes', /^job 3,/);
        await window.unfold('Lanes', /^job 6,/);
        await window.openLog('Lanes', /^attempt 1, running/, /tick \d/);
        await window.page.mouse.move(700, 300);
        await settled(window);
        if (name !== 'contrast') await window.screenshot(`overview-${name}`);

        await window.command('Laneway: Show Timeline');
        const page = await window.webview('#canvas[data-bars]');
        await page.locator('#fit').click();
        await window.until('all bars', async () => (await page.locator('#canvas').getAttribute('data-bars')) === '7');
        await page.locator('#canvas').press('ArrowUp');
        await window.page.mouse.move(700, 300);
        await settled(window);
        await window.screenshot(`timeline-${name}`);
        // One of high contrast says it all.
        if (name === 'contrast') return;

        await window.command('Laneway: Add Job…');
        await window.asked('Type a command');
        await window.page.keyboard.type('npm test -- --grep "two words"');
        await window.until('the argv to be shown', async () => /two words/.test(await window.quickInput()));
        await window.screenshot(`add-${name}`);
      });
    }
  });
}
