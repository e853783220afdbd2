/** Reading, following and deleting logs. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import * as fc from 'fast-check';
import { follow } from '../../server/logs/follow.ts';
import { closeLogs, discardLogs, logSizes, openLogs } from '../../server/logs/open.ts';
import { locateLog, logPaths } from '../../server/logs/paths.ts';
import { readPage, toText } from '../../server/logs/read.ts';
import { removeLogs } from '../../server/logs/remove.ts';
import { waitFor } from '../helpers/waitFor.ts';

function folder(t: TestContext): string {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), 'laneway-logs-'));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

test('a path from a database never leads out of the folder of logs', () => {
  assert.deepEqual(logPaths('/l', 12_345, 2, false), { stdout: '/l/12/12345.2.log', stderr: '/l/12/12345.2.log' });
  assert.deepEqual(logPaths('/l', 7, 1, true), { stdout: '/l/0/7.1.out.log', stderr: '/l/0/7.1.err.log' });
  assert.equal(locateLog('/new', '/old/logs/12/12345.2.log'), '/new/12/12345.2.log');
  assert.equal(locateLog('/new', 'C:\\old\\logs\\0\\7.1.out.log'), '/new/0/7.1.out.log');
  for (const name of ['/etc/passwd', '/l/0/../../x.log', '/l/0/7.1.log/..', '0/x.log', '']) {
    assert.equal(locateLog('/new', name), null, name);
  }
});

test('pages of any size give back exactly the text, no character cut', async (t) => {
  const file = path.join(folder(t), 'log');
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, limit) => {
        fs.writeFileSync(file, text);
        let seen = '';
        let offset = 0;
        for (;;) {
          const page = await readPage(file, { offset, limit, ended: true });
          assert.equal(page.offset, offset);
          seen += toText(page.bytes);
          offset += page.bytes.length;
          if (page.complete) break;
          assert.ok(page.bytes.length > 0, 'every page gets on');
        }
        assert.equal(seen, Buffer.from(text).toString());
      },
    ),
    { numRuns: 25 },
  );
});

test('bytes that are no UTF-8 come through exactly, and hold nothing up', async (t) => {
  const file = path.join(folder(t), 'log');
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 30 }), fc.integer({ min: 1, max: 9 }), async (bytes, limit) => {
      fs.writeFileSync(file, bytes);
      const pages: Buffer[] = [];
      let offset = 0;
      for (;;) {
        const page = await readPage(file, { offset, limit, ended: true });
        pages.push(page.bytes);
        offset = page.offset + page.bytes.length;
        if (page.complete) break;
      }
      assert.deepEqual(Buffer.concat(pages), Buffer.from(bytes));
    }),
    { numRuns: 25 },
  );
});

test('where a page starts and ends', async (t) => {
  const file = path.join(folder(t), 'log');
  // a € (3 bytes) b 💡 (4 bytes)
  fs.writeFileSync(file, 'a€b💡');
  const read = async (request: Partial<Parameters<typeof readPage>[1]>) => {
    const { bytes, ...rest } = await readPage(file, { ended: false, ...request });
    return { text: toText(bytes), ...rest };
  };
  const size = 9;
  assert.deepEqual(await read({}), { text: 'a€b💡', offset: 0, size, complete: false });
  assert.deepEqual(await read({ ended: true }), { text: 'a€b💡', offset: 0, size, complete: true });
  assert.deepEqual(await read({ offset: 2, limit: 4 }), { text: 'b', offset: 4, size, complete: false });
  assert.deepEqual(await read({ tail: 2, ended: true }), { text: '', offset: 9, size, complete: true });
  assert.deepEqual(await read({ tail: 5 }), { text: 'b💡', offset: 4, size, complete: false });
  assert.deepEqual(await read({ tail: 500 }), { text: 'a€b💡', offset: 0, size, complete: false });
  assert.deepEqual(await read({ offset: 500 }), { text: '', offset: 500, size, complete: false });
  assert.deepEqual(await read({ limit: 0 }), { text: '', offset: 0, size, complete: false });
  const raw = await readPage(file, { offset: 2, limit: 1, raw: true, ended: false });
  assert.deepEqual([...raw.bytes], [0x82]);
  // A character of which only a part is written yet waits for the rest, unless nothing more comes.
  fs.writeFileSync(file, Buffer.from('x€').subarray(0, 3));
  assert.equal((await read({})).text, 'x');
  assert.equal((await read({ ended: true })).text, 'x\ufffd');
  fs.rmSync(file);
  assert.deepEqual(await read({ offset: 3, ended: true }), { text: '', offset: 3, size: 0, complete: true });
});

test('logs are opened in folders made on demand, appended to, and discarded with them', (t) => {
  const root = path.join(folder(t), 'logs');
  const files = logPaths(root, 5, 1, true);
  const logs = openLogs(files);
  fs.writeSync(logs.descriptors.stdout, 'one');
  fs.writeSync(logs.descriptors.stderr, 'three');
  closeLogs(logs);
  assert.deepEqual(logSizes(files), { stdoutBytes: 3, stderrBytes: 5 });
  discardLogs(files);
  assert.deepEqual(fs.readdirSync(root), []);
  assert.deepEqual(logSizes(files), { stdoutBytes: null, stderrBytes: null });
});

test('removing logs removes the folders this empties, and reports what is gone', async (t) => {
  const root = folder(t);
  const make = (job: number) => {
    const { stdout } = logPaths(root, job, 1, false);
    fs.mkdirSync(path.dirname(stdout), { recursive: true });
    fs.writeFileSync(stdout, 'x');
    return stdout;
  };
  const [first, second, third] = [make(1), make(2), make(1001)];
  const missing = logPaths(root, 3, 1, false).stdout;
  // A folder in the place of a file cannot be deleted as one: that one is left for another time.
  const stuck = logPaths(root, 1002, 1, false).stdout;
  fs.mkdirSync(stuck);
  const gone = await removeLogs(root, [first, missing, third, stuck, '/etc/passwd']);
  assert.deepEqual(gone, [first, missing, third, '/etc/passwd']);
  assert.deepEqual(fs.readdirSync(root).sort(), ['0', '1']);
  assert.deepEqual(await removeLogs(root, [second]), [second]);
  assert.deepEqual(fs.readdirSync(root), ['1']);
});

test('a follower hears of a log that appears, grows, is truncated, vanishes and comes back', async (t) => {
  const root = path.join(folder(t), 'logs');
  const { stdout } = logPaths(root, 1, 1, false);
  const hints: number[] = [];
  t.after(follow(stdout, (size) => hints.push(size)));
  const last = (size: number) =>
    waitFor(() => hints.at(-1) === size, {
      what: `a hint of ${size} bytes; heard ${JSON.stringify(hints)}`,
    });
  fs.mkdirSync(path.dirname(root), { recursive: true });
  fs.mkdirSync(path.dirname(stdout), { recursive: true });
  fs.writeFileSync(stdout, '12345');
  await last(5);
  fs.appendFileSync(stdout, '67');
  await last(7);
  fs.truncateSync(stdout, 2);
  await last(2);
  fs.appendFileSync(stdout, '345');
  await last(5);
  fs.rmSync(stdout);
  await last(0);
  fs.writeFileSync(stdout, 'again');
  await last(5);
  // Replaced by another file: the watch must move along.
  fs.writeFileSync(`${stdout}.new`, 'another one');
  fs.renameSync(`${stdout}.new`, stdout);
  await last(11);
  fs.appendFileSync(stdout, '!');
  await last(12);
});

test('a burst of writes becomes few hints, the last of which has it all; none after the close', async (t) => {
  const file = path.join(folder(t), 'log');
  fs.writeFileSync(file, '');
  const hints: number[] = [];
  const end = follow(file, (size) => hints.push(size));
  t.after(end);
  for (let write = 0; write < 2000; write += 1) {
    fs.appendFileSync(file, 'x');
    // Let the loop hear of it.
    if (write % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await waitFor(() => hints.at(-1) === 2000);
  assert.ok(hints.length < 200, `${hints.length} hints`);
  const count = hints.length;
  end();
  fs.appendFileSync(file, 'y');
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(hints.length, count);
});
