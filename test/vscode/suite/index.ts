/**
 * The entry both editors call: loads the tests and runs them with mocha, whose globals the test
 * files use. The results go to the file named by LANEWAY_TEST_RESULTS.
 */
import Mocha from 'mocha';
import { LINE, runMocha, writeResults } from '../host/report.ts';

/** Called by the editor when the window is ready. Rejects when a test failed, as editors expect. */
export async function run(): Promise<void> {
  const mocha = new Mocha({ ui: 'bdd', timeout: 120_000, retries: 1, reporter: Mocha.reporters.Base });
  mocha.suite.emit('pre-require', globalThis, '', mocha);
  await import('./activation.test.ts');
  await import('./logs.test.ts');
  await import('./queue.test.ts');
  await import('./harm.test.ts');
  const results = await runMocha(mocha, (line) => console.log(`${LINE}${line}`));
  const file = process.env['LANEWAY_TEST_RESULTS'];
  if (file !== undefined) writeResults(file, results);
  if (results.failed.length > 0) throw new Error(`${results.failed.length} tests failed`);
}
