import { Retry } from '../../../shared/protocol.ts';
import { toggle } from '../args.ts';
import { finish } from '../results.ts';
import { laneFlag, selectionOf, tagFlag } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'retry',
  summary: 'Run dead jobs again, or retrying ones at once',
  usage: ['lane retry ID…', 'lane retry --all [--lane NAME] [--tag K=V]'],
  details: [
    'The budgets of retries and crashes start anew; attempt numbers go on. A job that is done or canceled is not retried: use lane rerun.',
  ],
  flags: {
    all: toggle('Every dead job'),
    lane: laneFlag('Of those, only jobs of this lane'),
    tag: tagFlag('Of those, only jobs with this tag; repeatable'),
    force: toggle('Stop a running attempt first, with its grace, then run the job again'),
    withDependents: toggle('Also bring back what its death had settled: dead jobs themselves, canceled ones as reruns'),
  },
  examples: [
    { line: 'lane retry 12', says: 'One dead job' },
    { line: 'lane retry --all --lane build', says: 'All that died in one lane' },
    { line: 'lane retry 12 --with-dependents', says: 'And all that ended because it had died' },
    { line: 'lane retry last --force', says: 'Start the newest job afresh, even if it runs' },
  ],
  async run(context, { flags, words }) {
    const selection = selectionOf(words, flags, 'retry');
    const { force, withDependents } = flags;
    const { results, revived } = await context.request(Retry, { selection, force, withDependents });
    return finish(
      context,
      results.map(({ id, state, error }) => ({ id, state, error })),
      ({ state }) => (state === 'running' ? 'is being stopped, then runs again' : (state ?? '')),
      withDependents ? { revived } : {},
    );
  },
});
