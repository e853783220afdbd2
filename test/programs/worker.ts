/** A worker in a process of its own: started, killed and stopped by tests. Arguments: paths (JSON), folder. */
import { flushCompileCache } from 'node:module';
import { systemClock } from '../../server/clock.ts';
import { readHost } from '../../server/run/host.ts';
import { parsePoints } from '../../server/run/points.ts';
import { runTool } from '../../server/run/tool.ts';
import { createWorker } from '../../server/run/worker.ts';
import type { WorkerPaths } from '../../server/run/worker.ts';
import { openStore } from '../../server/store/open.ts';

const [paths = '', folder = ''] = process.argv.slice(2);
const heartbeatMs = Number(process.env['HEARTBEAT_MS']);
const store = await openStore({ folder, clock: systemClock });
const worker = createWorker(
  {
    store,
    clock: systemClock,
    host: await readHost(process.platform, runTool),
    paths: JSON.parse(paths) as WorkerPaths,
    kind: 'work',
    lanes: null,
    slots: null,
    concurrency: 4,
    logLimit: () => Number.POSITIVE_INFINITY,
    log: (message) => process.send?.({ log: message }),
    onFinished: (line) => process.send?.({ finished: line }),
    point: parsePoints(process.env['LANEWAY_TEST_POINTS'], (signal) => process.kill(process.pid, signal)),
  },
  { heartbeatMs, leaseMs: heartbeatMs * 3 },
);
store.onCommit(() => worker.wake());
// Other processes' commits: the real server watches for them, a test's worker asks often.
let version = store.dataVersion();
const watching = setInterval(() => {
  const now = store.dataVersion();
  if (now !== version) worker.wake();
  version = now;
}, 20);
process.once('SIGTERM', () => {
  void worker
    .stop({ graceful: false })
    .then(() => store.close())
    .then(() => {
      clearInterval(watching);
      process.disconnect?.();
    });
});
// Now, since it may never end by itself.
flushCompileCache();
await worker.start();
process.send?.('ready');
