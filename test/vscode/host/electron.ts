/** VS Code itself, downloaded by @vscode/test-electron where the network and a screen allow it. */
import { createSandbox } from './sandbox.ts';
import { ROOT, SUITE_BUNDLE } from './places.ts';
import { messageOf, step } from './steps.ts';

const PROBE = 'https://update.code.visualstudio.com/api/releases/stable';

/** Null when VS Code can be had and shown, else the reason in words. */
export async function canRunElectron(): Promise<string | null> {
  const screen = process.platform !== 'linux' || (process.env['DISPLAY'] ?? '') !== '';
  if (!screen) return 'no display; run under xvfb-run for it';
  if (process.platform === 'linux' && process.getuid?.() === 0) return 'it does not start as root';
  try {
    const answer = await fetch(PROBE, { signal: AbortSignal.timeout(15_000) });
    return answer.ok ? null : `its download server answered ${answer.status}`;
  } catch (error) {
    return `its download server is out of reach: ${messageOf(error)}`;
  }
}

/** Downloads VS Code if need be and runs the bundle of tests in it. */
export async function runInElectron({ cache, results }: { cache: string; results: string }): Promise<void> {
  const { downloadAndUnzipVSCode, runTests } = await import('@vscode/test-electron');
  const executable = await step('downloading VS Code', { deadlineMs: 480_000 }, () =>
    downloadAndUnzipVSCode({ version: process.env['LANEWAY_TEST_VSCODE'] ?? 'stable', cachePath: cache }),
  );
  const sandbox = await createSandbox('suite');
  try {
    await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: ROOT,
      extensionTestsPath: SUITE_BUNDLE,
      extensionTestsEnv: { ...sandbox.env, LANEWAY_TEST_RESULTS: results },
      launchArgs: [
        sandbox.workspace,
        '--disable-workspace-trust',
        '--disable-extensions',
        '--skip-welcome',
        '--skip-release-notes',
        '--disable-gpu',
        `--user-data-dir=${sandbox.home}-editor`,
      ],
    });
  } finally {
    await sandbox.remove();
  }
}
