/** The extension under an editor that does nothing. Prints what loading, activation and a large refresh took. */
import { mostly } from '../lib/editorStub.ts';
import { createRequire } from 'node:module';
import path from 'node:path';
import { writeSync } from 'node:fs';
import type * as vscode from 'vscode';
import type { Laneway, Queue } from '../../client/vscode/context.ts';
import { Events, Lanes, List, type RequestType } from '../../shared/protocol.ts';
import type { JobEvent } from '../../shared/event.ts';
import type { Counts, Job, Lane } from '../../shared/job.ts';
import { dist } from '../lib/measurement.ts';
import { median } from '../lib/stats.ts';

const JOBS = 1000;
const ROUNDS = 7;

// The usual report would show the line of the bundle, all of it.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});

const began = performance.now();
const extension = createRequire(import.meta.url)(path.join(dist, 'extension.js')) as {
  activate(context: vscode.ExtensionContext): unknown;
};
const loaded = performance.now();
const storage = { fsPath: path.join(process.env['LANEWAY_BENCH_FOLDER'] ?? '', 'storage') };
const context = { subscriptions: [], extensionPath: path.dirname(dist), globalStorageUri: storage };
extension.activate(mostly(context) as vscode.ExtensionContext);
const activateMs = performance.now() - loaded;

const refreshMs = await refresh();
writeSync(1, JSON.stringify({ loadMs: loaded - began, activateMs, refreshMs }));
process.exit(0);

/** Milliseconds from the news that every job changed until each has its new line. */
async function refresh(): Promise<number> {
  const { JobCache } = await import('../../client/vscode/jobCache.ts');
  const { JobTree } = await import('../../client/vscode/views/jobTree.ts');
  const { lanesShape } = await import('../../client/vscode/views/shapes.ts');
  let cursor = 1;
  let asked = 0;
  // What a server would send, made before the watch starts: reading it is the connection's work.
  let jobs = rows(0);
  let events: JobEvent[] = [];
  const ask = async <P, R>(type: RequestType<P, R>, params: P): Promise<R> => {
    if (type === (Lanes as object)) return { lanes: [theLane()] } as R;
    if (type === (List as object)) {
      const { states, ids } = params as { states?: string[]; ids?: number[] };
      return { jobs: ids || states?.includes('queued') ? jobs : [], nextCursor: null } as R;
    }
    if (type !== (Events as object)) throw new Error(`${type.method} was asked`);
    asked = performance.now();
    return { events, cursor } as R;
  };
  const cache = new JobCache(ask, (error) => {
    throw error;
  });
  const nothing = () => ({ dispose: () => undefined });
  const queue = { name: 'w', root: '/w', cache, state: 'ready', onDidChangeState: nothing } as unknown as Queue;
  const laneway = { queues: () => [queue], onDidChangeQueues: nothing, log: console } as unknown as Laneway;
  const hint = { counts: counts(), scheduled: 0, retrying: 0, trouble: null };
  cache.connected({ ...hint, cursor }, true);
  const tree = new JobTree(
    laneway,
    lanesShape(() => ''),
  );
  tree.setVisible(true);
  const [top] = await tree.getChildren();
  const children = await tree.getChildren(top);
  if (top === undefined || children.length !== JOBS) throw new Error(`${children.length} jobs are shown`);

  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const painted = new Promise<void>((resolve) => {
      const off = tree.onDidChangeTreeData((changed) => {
        const nodes = changed ?? [];
        if (nodes.length === 0) return;
        off.dispose();
        const paint = async (): Promise<void> => {
          for (const node of nodes) {
            tree.getTreeItem(node);
            if (node.kind === 'lane') for (const child of await tree.getChildren(node)) tree.getTreeItem(child);
          }
        };
        void paint().then(resolve);
      });
    });
    cursor += 1;
    jobs = rows(cursor);
    events = jobs.map(({ id }) => rescheduled(cursor, id));
    cache.takeHint({ ...hint, cursor });
    await painted;
    took.push(performance.now() - asked);
  }
  return median(took);
}

function rows(priority: number): Job[] {
  return Array.from({ length: JOBS }, (_, index) => job(index + 1, priority));
}

function rescheduled(id: number, jobId: number): JobEvent {
  return { id, jobId, attempt: null, type: 'rescheduled', at: '', workerId: null, detail: {} };
}

/** What a tree looks at; `as Job`, since nothing here reads the rest. */
function job(id: number, priority: number): Job {
  const at = new Date().toISOString();
  const ready = { state: 'queued', phase: 'ready', waitReason: 'the lane is full', cancelRequested: false } as const;
  const told = { argv: ['npm', 'run', 'build'], label: null, attempts: 0, nextRunAt: at, createdAt: at };
  return { id, lane: 'default', priority, ...ready, ...told } as Job;
}

function theLane(): Lane {
  const settings = {
    timeoutMs: null,
    cancelGraceMs: null,
    maxRetries: null,
    retryDelayMs: null,
    retryMaxDelayMs: null,
  };
  const running = { running: 0, queued: JOBS, scheduled: 0, blocked: 0 };
  return { name: 'default', slots: 1, paused: true, pauseOnFailure: false, ...running, ...settings };
}

function counts(): Counts {
  return { blocked: 0, queued: JOBS, running: 0, done: 0, failed: 0, dead: 0, canceled: 0 };
}
