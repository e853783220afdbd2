/** Runs test files with Node's own runner and tallies them per file. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { run } from 'node:test';

/** Milliseconds after which a file that hangs is ended and counts as failed. */
const FILE_LIMIT = 6 * 60_000;

/** Absolute paths of the `*.test.ts` files in these folders, in name order. */
export function testFiles(root, folders) {
  return folders.flatMap((folder) => {
    try {
      return readdirSync(path.join(root, folder), { recursive: true })
        .filter((file) => file.endsWith('.test.ts'))
        .sort()
        .map((file) => path.join(root, folder, file));
    } catch {
      return [];
    }
  });
}

/**
 * @returns {Promise<{files: {path: string, passed: number, failed: string[], skipped: number}[]}>} one entry per file,
 *   paths relative to the current directory; a file that died without a word counts as one failure.
 */
export async function runFiles(files, concurrency) {
  const byFile = new Map(files.map((file) => [path.relative('', file), { passed: 0, failed: [], skipped: 0, ms: 0 }]));
  const tally = (event) => byFile.get(path.relative('', event.file ?? event.name));
  const stream = run({ files, concurrency, timeout: FILE_LIMIT });
  for await (const { type, data } of stream) {
    if (type === 'test:pass' || type === 'test:fail') {
      const file = tally(data);
      if (!file) continue;
      if (data.details?.type === 'suite' && type === 'test:pass') continue;
      if (type === 'test:pass' && data.skip !== undefined) {
        file.skipped += 1;
        process.stdout.write(
          `  skipped: ${data.name}: ${data.skip === true || data.skip === '' ? 'no reason given' : data.skip}\n`,
        );
      } else if (type === 'test:pass') file.passed += 1;
      else if (data.details?.error?.failureType !== 'subtestsFailed') {
        file.failed.push(data.name);
        report(data);
      }
    } else if (type === 'test:summary' && data.file) {
      const file = byFile.get(path.relative('', data.file));
      if (!file) continue;
      const relative = path.relative('', data.file);
      const mark = file.failed.length > 0 ? '✗' : '✓';
      const seconds = (data.duration_ms / 1000).toFixed(1);
      process.stdout.write(`${mark} ${relative}  ${file.passed} passed, ${file.failed.length} failed  ${seconds} s\n`);
    } else if (type === 'test:stderr' && process.env.LANEWAY_TEST_STDERR) {
      process.stderr.write(data.message);
    }
  }
  return {
    files: [...byFile].map(([file, counts]) => ({
      path: file,
      ...counts,
      failed: counts.passed + counts.failed.length + counts.skipped === 0 ? ['ran no test'] : counts.failed,
    })),
  };
}

function report(data) {
  const error = data.details?.error?.cause ?? data.details?.error;
  const text = error?.stack ?? String(error);
  process.stdout.write(
    `\n✗ ${data.name}\n${text
      .split('\n')
      .slice(0, 25)
      .map((line) => `    ${line}`)
      .join('\n')}\n\n`,
  );
}
