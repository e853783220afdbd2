/**
 * `node test/vscode/host/main.ts suite|ui --results FILE [--screenshots] [--only TEXT]`
 *
 * Runs the extension-host tests (`suite`) or the journeys through the window (`ui`) in a real
 * editor. Prints a line per test, writes `{passed, failed: [names], skipped}` to FILE, and ends
 * with 0 only when every test passed.
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { removeFreshFolders } from './places.ts';
import { stopAll } from './processes.ts';
import { failedResults, type Results, writeResults } from './report.ts';
import { endStragglers } from './sandbox.ts';
import { messageOf, say } from './steps.ts';
import { runSuite } from './suite.ts';
import { runUi } from './ui.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    results: { type: 'string' },
    screenshots: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const mode = positionals[0];

async function main(): Promise<number> {
  if (mode !== 'suite' && mode !== 'ui') {
    process.stderr.write(
      'usage: node test/vscode/host/main.ts suite|ui [--results FILE] [--screenshots] [--only TEXT]\n',
    );
    return 1;
  }
  let results: Results;
  try {
    results = mode === 'suite' ? await runSuite() : await runUi({ screenshots: values.screenshots, only: values.only });
  } catch (error) {
    process.stdout.write(`not ok the editor for ${mode}\n${messageOf(error).replace(/^/gm, '    ')}\n`);
    results = failedResults(`the editor for ${mode}`);
  }
  if (values.results !== undefined) writeResults(path.resolve(values.results), results);
  say(`${mode}: ${results.passed} passed, ${results.failed.length} failed, ${results.skipped} skipped`);
  return results.failed.length === 0 && results.passed > 0 ? 0 : 1;
}

async function leave(status: number): Promise<never> {
  await stopAll();
  await endStragglers();
  await removeFreshFolders();
  process.exit(status);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void leave(130));
}
await leave(await main());
