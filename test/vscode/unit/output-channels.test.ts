/** At most ten channels, the one not looked at for longest making room; reuse for the next attempt. */
import './vscodeStub.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttemptTarget } from '../../../client/vscode/output/attempt.ts';
import type { Laneway } from '../../../client/vscode/context.ts';
import { FollowStop } from '../../../shared/protocol.ts';

const { window } = await import('vscode');
const { LogChannels } = await import('../../../client/vscode/output/channels.ts');

/** Channels that stand open in the editor, by name. */
const standing = new Set<string>();
Object.assign(window, {
  createOutputChannel: (name: string) => {
    standing.add(name);
    return {
      name,
      append: () => undefined,
      replace: () => undefined,
      show: () => undefined,
      dispose: () => standing.delete(name),
    };
  },
});

const asked: string[] = [];
const queue = {
  request: (type: { method: string }) => {
    asked.push(type.method);
    return Promise.resolve({ bytes: 0, base64: '', offset: 0, size: 0, complete: false });
  },
  on: () => ({ dispose: () => undefined }),
  onDidConnect: () => ({ dispose: () => undefined }),
};
function target(id: number, number = 1): AttemptTarget {
  return { queue, job: { id, label: null, argv: ['npm', 'test'] }, attempt: { jobId: id, number } } as never;
}
const names = (...ids: number[]): string[] => ids.map((id) => `Laneway #${id}.1 npm test`);
const laneway = { log: { warn: () => undefined } } as never as Laneway;

describe('log channels', () => {
  it('ten are kept; what was looked at last stays; each stops following when it goes', async () => {
    const channels = new LogChannels(laneway, () => 1024);
    for (let id = 1; id <= 10; id += 1) channels.show(target(id));
    // Its reader has begun, so it must also be told to stop.
    await new Promise((resolve) => void setImmediate(resolve));
    channels.show(target(1));
    channels.show(target(11));
    assert.deepEqual(channels.names, names(3, 4, 5, 6, 7, 8, 9, 10, 1, 11));
    assert.deepEqual([...standing].sort(), channels.names.toSorted());
    assert.equal(asked.filter((method) => method === FollowStop.method).length, 1);
    channels.dispose();
    assert.equal(standing.size, 0);
  });

  it('the next attempt takes the place of the earlier when asked to, else stands beside it', () => {
    const channels = new LogChannels(laneway, () => 1024);
    channels.show(target(1));
    channels.show(target(2));
    channels.show(target(1, 2));
    assert.equal(channels.names.length, 3);
    assert.equal(channels.show(target(1, 3), { reuse: true }), 'Laneway #1.3 npm test');
    assert.deepEqual(channels.names, [...names(2), 'Laneway #1.3 npm test']);
    channels.dispose();
  });
});
