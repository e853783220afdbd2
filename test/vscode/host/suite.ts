/**
 * Runs the extension-host tests in an editor. Two editors, one bundle of tests: VS Code itself
 * through @vscode/test-electron, or code-server's in a headless browser.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleSuite, buildExtension } from './bundle.ts';
import { findChromium, launchBrowser } from './chromium.ts';
import { installCodeServer, QUIET_SETTINGS, startCodeServer } from './codeServer.ts';
import { canRunElectron, runInElectron } from './electron.ts';
import { CACHE, freshFolder, removeFolder, ROOT, SUITE_BUNDLE } from './places.ts';
import { LINE, type Results } from './report.ts';
import { createSandbox } from './sandbox.ts';
import { messageOf, say, step } from './steps.ts';

/** Milliseconds for all extension-host tests together. */
const SUITE_DEADLINE_MS = 600_000;

/** Runs the suite. @returns what the tests reported. @throws when no editor could run them. */
export async function runSuite(): Promise<Results> {
  await buildExtension();
  await bundleSuite();
  const asked = process.env['LANEWAY_TEST_HOST'];
  if (asked !== 'code-server') {
    const reason = asked === 'electron' ? null : await canRunElectron();
    if (reason === null) return await attempt('VS Code', (file) => runInElectron({ cache: CACHE, results: file }));
    say(`VS Code itself cannot be used here (${reason}); using code-server's`);
  }
  const folder = await installCodeServer();
  const browser = await findChromium();
  return await attempt("code-server's VS Code", async (results, signal) => {
    const sandbox = await createSandbox('suite');
    const server = await startCodeServer(folder, {
      env: { ...sandbox.env, LANEWAY_TEST_RESULTS: results },
      settings: { ...QUIET_SETTINGS, 'security.workspace.trust.enabled': false },
    });
    const window = await launchBrowser(browser);
    // The editor's console is long; only the tests' lines are shown, the rest when it breaks.
    let noise = '';
    const take = (line: string): void => {
      if (line.startsWith(LINE)) process.stdout.write(`${line.slice(LINE.length)}\n`);
      else noise = `${noise}${line}\n`.slice(-6000);
    };
    const leave = async (): Promise<void> => {
      await window.close().catch(() => undefined);
      await server.stop();
      await sandbox.remove();
    };
    signal.addEventListener('abort', () => void leave());
    try {
      const page = await window.newPage({ viewport: { width: 1280, height: 800 } });
      const ended = new Promise<number>((resolve, reject) => {
        page.on('crash', () => reject(new Error('the page crashed')));
        server.onExit((code) => reject(new Error(`the editor ended with ${code}:\n${server.tail().slice(-2000)}`)));
        void page.exposeFunction('codeAutomationExit', resolve);
        void page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
          take(args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' '));
        });
      });
      const uri = (file: string): string => `vscode-remote://${server.authority}${file}`;
      const payload = [
        ['extensionDevelopmentPath', uri(ROOT)],
        ['extensionTestsPath', uri(SUITE_BUNDLE)],
        ['skipWelcome', 'true'],
      ];
      const query = new URLSearchParams({ folder: sandbox.workspace, payload: JSON.stringify(payload) });
      await page.goto(`${server.origin}/?${query}`, { timeout: 120_000, waitUntil: 'commit' });
      await ended;
      if (!existsSync(results)) throw new Error(`the editor ended without reporting; its console said:\n${noise}`);
    } finally {
      await leave();
    }
  });
}

/** Runs the tests in one editor, and once more when the editor broke before it reported. */
async function attempt(name: string, start: (results: string, signal: AbortSignal) => Promise<void>): Promise<Results> {
  return await step(`the extension-host tests in ${name}`, { deadlineMs: SUITE_DEADLINE_MS }, async (signal) => {
    const folder = await freshFolder('results');
    const file = path.join(folder, 'results.json');
    try {
      await start(file, signal).catch((error: unknown) => {
        // A window that breaks while it closes has still reported.
        if (!existsSync(file)) throw error;
        say(`the editor did not end in order: ${messageOf(error)}`);
      });
      if (!existsSync(file)) throw new Error('the editor ended without reporting');
      return JSON.parse(await readFile(file, 'utf8')) as Results;
    } finally {
      await removeFolder(folder);
    }
  });
}
