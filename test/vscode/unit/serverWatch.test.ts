/** A server that somebody else starts is noticed, wherever its folder begins to exist. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { watchServerFile } from '../../../client/vscode/serverWatch.ts';
import { waitFor } from '../../helpers/waitFor.ts';

describe('the watch for a server', () => {
  let folder: string;
  let seen: number;
  let watch: { dispose(): void };
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'laneway-watch-'));
    seen = 0;
  });
  afterEach(() => {
    watch.dispose();
    rmSync(folder, { recursive: true, force: true });
  });
  const start = (file: string): void => {
    watch = watchServerFile(file, () => void (seen += 1));
  };
  /** As a server writes it. */
  const write = (file: string): void => {
    writeFileSync(`${file}.tmp`, '{}');
    renameSync(`${file}.tmp`, file);
  };
  const DEADLINE = { deadlineMs: 60_000 };

  it('sees the file come, and come again', async () => {
    const file = path.join(folder, 'server.json');
    start(file);
    write(file);
    await waitFor(() => seen > 0, DEADLINE);
    rmSync(file);
    write(file);
    await waitFor(() => seen > 1, DEADLINE);
  });

  it('sees it in folders that did not exist, and that are removed and made anew', async () => {
    const state = path.join(folder, 'home', 'workspaces', 'a');
    const file = path.join(state, 'server.json');
    start(file);
    mkdirSync(state, { recursive: true });
    write(file);
    await waitFor(() => seen > 0, DEADLINE);
    rmSync(path.join(folder, 'home'), { recursive: true });
    const before = seen;
    mkdirSync(state, { recursive: true });
    // Whether the removal was noticed before or after, one of these is seen.
    await waitFor(() => {
      write(file);
      return seen > before;
    }, DEADLINE);
  });

  it('is silent about the files beside it, and after its end', async () => {
    const file = path.join(folder, 'server.json');
    start(file);
    for (let nth = 0; nth < 50; nth += 1) writeFileSync(path.join(folder, 'queue.db-wal'), String(nth));
    write(file);
    await waitFor(() => seen > 0, DEADLINE);
    watch.dispose();
    const before = seen;
    assert.ok(before < 10, `${before} looks at one file`);
    write(file);
    const other = path.join(folder, 'other.json');
    const control = watchServerFile(other, () => void (seen += 100));
    write(other);
    await waitFor(() => seen >= 100, DEADLINE);
    control.dispose();
    assert.equal(seen % 100, before);
  });
});
