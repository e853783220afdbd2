/** Reading a log: history, growth, its end, a lost connection, a job faster than its reader. */
import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { describe, it } from 'node:test';
import { LogReader, type LogSink, type LogSource } from '../../../client/vscode/output/reader.ts';
import { TextLog } from '../../../client/vscode/output/textLog.ts';
import { Follow, FollowStop, LogGrew, Output } from '../../../shared/protocol.ts';
import { waitFor } from '../../helpers/waitFor.ts';

/** A server with one log, in memory. */
class FakeServer {
  log: Buffer = Buffer.alloc(0);
  ended = false;
  down = false;
  readonly asked: string[] = [];
  readonly grew = new Set<(hint: unknown) => void>();
  readonly connected = new Set<() => void>();
  /** Called before a page is answered: the moment in which a log may grow. */
  beforePage: () => void = () => undefined;
  biggestPage = 0;

  readonly source: LogSource = {
    request: async <P, R>(type: { method: string; _?: [P, R] }, params: P): Promise<R> => {
      this.asked.push(type.method);
      if (this.down) throw new Error('the connection was lost');
      return (await Promise.resolve(this.#answer(type.method, params as Record<string, number>))) as R;
    },
    on: (type, listener) => {
      assert.equal(type.method, LogGrew.method);
      const added = listener as (hint: unknown) => void;
      this.grew.add(added);
      return { dispose: () => this.grew.delete(added) };
    },
    onDidConnect: (listener) => {
      this.connected.add(listener);
      return { dispose: () => this.connected.delete(listener) };
    },
  };

  #answer(method: string, params: Record<string, number>): unknown {
    if (method === Follow.method) return { jobId: 1, attempt: 1, size: this.log.length, ended: this.ended };
    if (method === FollowStop.method) return null;
    assert.equal(method, Output.method);
    this.beforePage();
    const size = this.log.length;
    const from = params['tail'] === undefined ? (params['offset'] ?? 0) : Math.max(0, size - params['tail']);
    const bytes = this.log.subarray(from, from + (params['limit'] ?? 0));
    this.biggestPage = Math.max(this.biggestPage, bytes.length);
    return {
      jobId: 1,
      attempt: 1,
      stream: 'both',
      text: '',
      base64: bytes.toString('base64'),
      bytes: bytes.length,
      offset: Math.min(from, size),
      complete: this.ended && from + bytes.length >= size,
      size,
    };
  }

  write(text: string | Buffer): void {
    this.log = Buffer.concat([this.log, Buffer.from(text)]);
    this.hint();
  }
  hint(): void {
    for (const listener of this.grew) listener({ jobId: 1, attempt: 1, size: this.log.length, ended: this.ended });
  }
}

/** Everything told, as words. */
function recorder(): LogSink & { text: string } {
  const sink = {
    text: '',
    data: (bytes: Uint8Array) => void (sink.text += Buffer.from(bytes).toString()),
    omitted: (bytes: number) => void (sink.text += `<omitted ${bytes}>`),
    restarted: () => void (sink.text += '<restarted>'),
    ended: () => void (sink.text += '<ended>'),
    trouble: (error: unknown) => void (sink.text += `<${(error as Error).message}>`),
  };
  return sink;
}
const options = { job: 1, attempt: 1, tailBytes: 10, pageBytes: 4 };

describe('reading a log', () => {
  it('tells a bounded tail, then what is added, then the end, once', async () => {
    const server = new FakeServer();
    server.log = Buffer.from('0123456789abcdefghij');
    const sink = recorder();
    const reader = new LogReader(server.source, sink, options);
    await reader.start();
    assert.equal(sink.text, '<omitted 10>abcdefghij');
    server.write('KL');
    await waitFor(() => sink.text.endsWith('KL'));
    server.ended = true;
    server.hint();
    server.hint();
    await waitFor(() => sink.text.endsWith('<ended>'));
    assert.equal(sink.text, '<omitted 10>abcdefghijKL<ended>');
    reader.dispose();
    assert.equal(server.grew.size + server.connected.size, 0);
  });

  it('misses nothing that is written while a page is on its way', async () => {
    const server = new FakeServer();
    let more = 40;
    server.beforePage = () => {
      if (more > 0) server.write(`${(more -= 1) % 10}`);
      else server.ended = true;
    };
    const sink = recorder();
    const reader = new LogReader(server.source, sink, { ...options, tailBytes: 1000 });
    await reader.start();
    server.hint();
    await waitFor(() => sink.text.endsWith('<ended>'));
    assert.equal(sink.text, `${server.log.toString()}<ended>`);
    reader.dispose();
  });

  it('goes on from its offset after a lost connection', async () => {
    const server = new FakeServer();
    server.write('before ');
    const sink = recorder();
    const reader = new LogReader(server.source, sink, options);
    await reader.start();
    server.down = true;
    server.write('during ');
    await waitFor(() => sink.text.includes('lost'));
    server.down = false;
    server.ended = true;
    for (const listener of server.connected) listener();
    await waitFor(() => sink.text.endsWith('<ended>'));
    assert.equal(sink.text, 'before <the connection was lost>during <ended>');
    reader.dispose();
  });

  it('starts again at 0 when the job truncates its log', async () => {
    const server = new FakeServer();
    server.write('long text');
    const sink = recorder();
    const reader = new LogReader(server.source, sink, options);
    await reader.start();
    server.log = Buffer.from('new');
    server.hint();
    await waitFor(() => sink.text.endsWith('new'));
    assert.equal(sink.text, 'long text<restarted>new');
    reader.dispose();
    assert.ok(server.asked.includes(FollowStop.method));
  });

  it('skips what a person could not read, and holds one page at a time', async () => {
    const server = new FakeServer();
    const sink = recorder();
    const reader = new LogReader(server.source, sink, { ...options, tailBytes: 1000, pageBytes: 500 });
    await reader.start();
    server.write(Buffer.alloc(1_000_000, 'x'));
    server.ended = true;
    server.hint();
    await waitFor(() => sink.text.endsWith('<ended>'));
    const told = sink.text.length;
    assert.ok(told < 3000, `${told} characters`);
    assert.match(sink.text, /^x{500}<omitted 998500>x{1000}<ended>$/);
    assert.ok(server.biggestPage <= 500);
    reader.dispose();
  });
});

describe('the text of a followed log', () => {
  it('stays bounded while a job writes without end, and says what it left out', async () => {
    const target = {
      text: '',
      replaced: 0,
      append: (t: string) => void (target.text += t),
      replace: (t: string) => void ((target.text = t), (target.replaced += 1)),
    };
    const log = new TextLog(target, {
      keep: 1000,
      ending: () => Promise.resolve('[the end]'),
      trouble: (error) => assert.fail(String(error)),
    });
    const line = Buffer.from(`${'y'.repeat(99)}\n`);
    for (let n = 0; n < 2000; n += 1) {
      log.data(line);
      assert.ok(target.text.length <= 4200, `${target.text.length} characters`);
    }
    log.ended();
    await waitFor(() => target.text.endsWith('[the end]\n'));
    assert.ok(target.replaced > 10);
    assert.match(target.text, /^\[… 1\d\d KiB before this omitted[^\n]*\n(y{99}\n)+\[the end\]\n$/);
  });
});
