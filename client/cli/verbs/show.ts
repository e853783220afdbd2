import { MAX_LIST } from '../../../shared/limits.ts';
import { Show, Timeline } from '../../../shared/protocol.ts';
import { toggle } from '../args.ts';
import { showJob } from '../render/show.ts';
import { viewOf } from '../render/view.ts';
import { refOf } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'show',
  summary: 'Show everything about one job',
  usage: ['lane show ID'],
  details: [
    'Facts, what it needs and who needs it, finished stages and sleeps, and each attempt with its events and log files.',
  ],
  flags: { env: toggle('Also the values of its environment, as captured when it was added') },
  examples: [
    { line: 'lane show 12', says: 'The job 12' },
    { line: 'lane show last', says: 'The newest job' },
    { line: 'lane show label:nightly --env', says: 'The newest job so labelled, with its environment' },
  ],
  async run(context, { flags, words }) {
    const { env, ...shown } = await context.request(Show, { job: refOf(words, 'show'), env: flags.env });
    const { job, attempts, needs, neededBy, checkpoints } = shown;
    if (context.json) {
      context.print({ job, attempts, needs, neededBy, checkpoints, ...(flags.env ? { env } : {}) });
      return 0;
    }
    const { entries } = await context.request(Timeline, { job: job.id, limit: MAX_LIST });
    context.out(`${showJob({ ...shown, env, history: entries }, viewOf(context)).join('\n')}\n`);
    return 0;
  },
});
