import { MAX_PRIORITY, MIN_PRIORITY } from '../../../shared/limits.ts';
import { Bump } from '../../../shared/protocol.ts';
import { invalid, toggle, whole } from '../args.ts';
import { finish } from '../results.ts';
import { refsOf } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'bump',
  summary: 'Change the priority of waiting jobs, or make delayed ones due now',
  usage: ['lane bump ID… --priority N', 'lane bump ID… --now'],
  details: ['Nothing else of a job can be changed: cancel it and add the corrected one.'],
  flags: {
    priority: whole('N', 'The new priority; higher ones start first (default of jobs: 0)', MIN_PRIORITY, MAX_PRIORITY),
    now: toggle('Due now, whatever delay or backoff it waits for'),
  },
  examples: [
    { line: 'lane bump 12 --priority 10', says: 'Let it go before others' },
    { line: 'lane bump last --now', says: 'Do not wait for its delay' },
  ],
  async run(context, { flags, words }) {
    const jobs = refsOf(words, 'bump');
    if (flags.priority === null && !flags.now) {
      throw invalid('nothing to change is given', 'Give --priority N, or --now, or both.');
    }
    const { results } = await context.request(Bump, { jobs, priority: flags.priority, now: flags.now });
    return finish(
      context,
      results.map(({ id, state, error }) => ({ id, state, error })),
      ({ state }) => state ?? '',
    );
  },
});
