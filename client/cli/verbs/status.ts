import { List, StatusRequest } from '../../../shared/protocol.ts';
import { statusLines } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { noWords } from '../selection.ts';
import { verb } from '../verb.ts';

/** Jobs shown of each kind: enough to see what goes on without scrolling. */
const SHOWN = 5;

export default verb({
  name: 'status',
  summary: 'The whole queue at a glance (also: lane alone)',
  usage: ['lane status', 'lane'],
  details: ['Counts, what runs, what waits and why, lanes, workers, the server and the size of the logs.'],
  flags: {},
  examples: [
    { line: 'lane', says: 'How things stand' },
    { line: 'lane status --json', says: 'The same for a program' },
  ],
  async run(context, { words }) {
    noWords(words, 'status');
    const { logBytes, ...status } = await context.request(StatusRequest, null);
    if (context.json) {
      const { counts, scheduled, retrying, lanes, workers, server } = status;
      context.print({ counts, scheduled, retrying, lanes, workers, server });
      return 0;
    }
    const { counts } = status;
    const [running, waiting] = await Promise.all([
      counts.running === 0 ? { jobs: [] } : context.request(List, { states: ['running'], limit: SHOWN }),
      counts.queued + counts.blocked === 0
        ? { jobs: [] }
        : context.request(List, { states: ['queued', 'blocked'], limit: SHOWN, order: 'claim' }),
    ]);
    const overview = { ...status, logBytes, runningJobs: running.jobs, waitingJobs: waiting.jobs };
    context.out(`${statusLines(overview, viewOf(context)).join('\n')}\n`);
    return 0;
  },
});
