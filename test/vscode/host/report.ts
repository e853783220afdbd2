/**
 * How tests report, in the extension host and in the UI runner alike: a line per test as it
 * ends, and at the end a small JSON file.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type Mocha from 'mocha';

export interface Results {
  passed: number;
  failed: string[];
  skipped: number;
}

/** Marks the suite's own lines among all that an editor's console says. */
export const LINE = '[laneway-test] ';

/** Written in one piece: a reader finds all of it or nothing. */
export function writeResults(file: string, results: Results): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, `${JSON.stringify(results)}\n`);
  renameSync(`${file}.part`, file);
}

/** What was not run counts as failed by name, so that no broken host looks green. */
export function failedResults(name: string): Results {
  return { passed: 0, failed: [name], skipped: 0 };
}

/** Runs a loaded Mocha to its end. `print` gets one line at a time. */
export async function runMocha(mocha: Mocha, print: (line: string) => void): Promise<Results> {
  const results: Results = { passed: 0, failed: [], skipped: 0 };
  return await new Promise((resolve) => {
    const runner = mocha.run(() => resolve(results));
    runner.on('pass', (test) => {
      results.passed += 1;
      print(`ok ${test.fullTitle()} (${test.duration ?? 0} ms)`);
    });
    runner.on('retry', (test: Mocha.Test, error: unknown) => print(`again ${test.fullTitle()}: ${textOf(error)}`));
    runner.on('pending', (test) => {
      results.skipped += 1;
      print(`skipped ${test.fullTitle()}`);
    });
    runner.on('fail', (test, error: unknown) => {
      results.failed.push(test.fullTitle());
      print(`not ok ${test.fullTitle()}\n${textOf(error).replace(/^/gm, '    ')}`);
    });
  });
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
