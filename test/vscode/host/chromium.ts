/**
 * A headless Chromium without a system package manager: the npm package carries its binary
 * (and the libraries a bare image lacks), unpacked once into the cache. Elsewhere than on
 * Linux x64/arm64, or when that binary does not start, an installed browser serves.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { cachedFolder, node24, ROOT } from './places.ts';
import { run } from './processes.ts';
import { messageOf, say, step } from './steps.ts';

export interface BrowserProgram {
  executable: string;
  env: Record<string, string>;
}

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--font-render-hinting=none',
  // A window in the background must go on painting and running timers as if it were looked at.
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--disable-backgrounding-occluded-windows',
];

const INSTALLED = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** Finds or unpacks a browser and checks that it starts. */
export async function findChromium(): Promise<BrowserProgram> {
  const asked = process.env['LANEWAY_TEST_CHROMIUM'];
  const candidates: (() => Promise<BrowserProgram[]>)[] = [];
  if (asked !== undefined) candidates.push(() => Promise.resolve([{ executable: asked, env: {} }]));
  else {
    if (process.platform === 'linux') candidates.push(unpackChromium);
    candidates.push(() =>
      Promise.resolve(INSTALLED.filter((file) => existsSync(file)).map((executable) => ({ executable, env: {} }))),
    );
  }
  const reasons: string[] = [];
  for (const candidate of candidates) {
    try {
      for (const program of await candidate()) {
        const problem = await whyNot(program);
        if (problem === null) return program;
        reasons.push(`${program.executable}: ${problem}`);
      }
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  throw new Error(
    `no browser for the editor's window (${reasons.join('; ') || 'none installed'}). ` +
      'Run npm ci, or install chromium, or set LANEWAY_TEST_CHROMIUM to a Chromium binary',
  );
}

/** A browser of its own for one window, so that a crash of it reaches no other test. */
export async function launchBrowser(program: BrowserProgram): Promise<Browser> {
  return await step('starting the browser', { deadlineMs: 90_000 }, () =>
    chromium.launch({
      executablePath: program.executable,
      args: FLAGS,
      env: { ...definedEnv(), ...program.env },
      timeout: 80_000,
      // Signals are the host's business: it ends the browser itself.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    }),
  );
}

/** The same binary twice: as the machine is, and with the libraries and fonts of the package. */
async function unpackChromium(): Promise<BrowserProgram[]> {
  const manifest = path.join(ROOT, 'node_modules/@sparticuz/chromium/package.json');
  if (!existsSync(manifest)) throw new Error('the npm package @sparticuz/chromium is not installed');
  const { version } = createRequire(import.meta.url)(manifest) as { version: string };
  const name = `chromium-${version}-${process.arch}`;
  const folder = await step('unpacking Chromium', { deadlineMs: 180_000, hint: 'Is the disk full?' }, (signal) =>
    cachedFolder(name, async (partial) => {
      say('unpacking Chromium (once)');
      // The package unpacks into the temp directory of its process, and its extra libraries only
      // where it believes itself in that cloud; both are arranged for in a process of its own.
      const script = "import c from '@sparticuz/chromium'; await c.executablePath();";
      await run(node24(), ['--input-type=module', '-e', script], {
        cwd: ROOT,
        env: { ...process.env, TMPDIR: partial, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' },
        signal,
      });
    }),
  );
  const executable = path.join(folder, 'chromium');
  const fonts: Record<string, string> = existsSync('/etc/fonts/fonts.conf')
    ? {}
    : { FONTCONFIG_PATH: path.join(folder, 'fonts') };
  return [
    { executable, env: fonts },
    { executable, env: { ...fonts, LD_LIBRARY_PATH: path.join(folder, 'al2023/lib') } },
  ];
}

async function whyNot({ executable, env }: BrowserProgram): Promise<string | null> {
  if (process.platform === 'win32') return existsSync(executable) ? null : 'no such file';
  try {
    const asked = await run(executable, ['--version'], {
      env: { ...process.env, ...env },
      signal: AbortSignal.timeout(60_000),
    });
    return /chrom|edge/i.test(asked) ? null : `it answered ${asked.trim()}`;
  } catch (error) {
    return messageOf(error);
  }
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
