import { LanewayError } from '../../../shared/errors.ts';
import { sayCount } from '../../../shared/format.ts';
import { MAX_LIST } from '../../../shared/limits.ts';
import { Cancel, List, Wait, type Selection } from '../../../shared/protocol.ts';
import { toggle } from '../args.ts';
import { confirm } from '../confirm.ts';
import { finish } from '../results.ts';
import { laneFlag, selectionOf, stateFlag, tagFlag } from '../selection.ts';
import { verb, type Context } from '../verb.ts';

export default verb({
  name: 'cancel',
  summary: 'Cancel jobs; running ones are stopped with their grace',
  usage: ['lane cancel ID…', 'lane cancel --all [--lane NAME] [--state S] [--tag K=V]'],
  details: [
    'A waiting job is canceled at once. A running one is asked to end (SIGTERM to its whole process group) and killed after its grace; its slot stays taken until it is gone.',
  ],
  flags: {
    all: toggle('Every blocked, queued and running job'),
    lane: laneFlag('Of those, only jobs of this lane'),
    state: stateFlag('Of those, only jobs in these states'),
    tag: tagFlag('Of those, only jobs with this tag; repeatable'),
    yes: toggle('Do not ask before stopping running jobs chosen by --all'),
    wait: toggle('Wait until the running ones are gone'),
  },
  examples: [
    { line: 'lane cancel 12 14', says: 'Two jobs' },
    { line: 'lane cancel last --wait', says: 'The newest job, and wait until its processes are gone' },
    { line: 'lane cancel --all --lane build --state queued', says: 'What waits in one lane' },
    { line: 'lane cancel --all --yes', says: 'Everything, in a script' },
  ],
  async run(context, { flags, words }) {
    const selection = selectionOf(words, flags, 'cancel');
    if (selection.all && !flags.yes) await mayStopRunning(context, selection);
    const { results } = await context.request(Cancel, { selection });
    const ids = results.flatMap(({ id, error }) => (error === null && typeof id === 'number' ? [id] : []));
    if (flags.wait && ids.length > 0) {
      const { jobs } = await context.request(Wait, { selection: { ids } });
      const states = new Map(jobs.map((job) => [job.id, job.state]));
      for (const result of results) result.state = states.get(Number(result.id)) ?? result.state;
    }
    return finish(
      context,
      results.map(({ id, state, wasRunning, error }) => ({ id, state, wasRunning, error })),
      ({ state }) => (state === 'running' ? 'is being stopped' : (state ?? '')),
    );
  },
});

/**
 * Running jobs chosen by `--all` are stopped only when somebody said so.
 * @throws LanewayError REFUSED when nobody can be asked, or the answer was no
 */
async function mayStopRunning(context: Context, selection: Selection): Promise<void> {
  const { lane, states, tags } = selection;
  if (states && !states.some((state) => state === 'running' || state === 'active')) return;
  const { jobs, nextCursor } = await context.request(List, { states: ['running'], lane, tags, limit: MAX_LIST });
  if (jobs.length === 0) return;
  const running = sayCount(jobs.length, 'running job');
  const question = `This stops ${nextCursor === null ? running : `more than ${running}`}. Go on?`;
  if (await confirm(context, question)) return;
  throw new LanewayError(
    'REFUSED',
    `${running} would be stopped, and nothing was canceled`,
    'Say --yes to stop them, or leave them out with --state queued,blocked.',
  );
}
