/** `lane wait`: until jobs have ended. */
import { MAX_BATCH } from '../../../shared/limits.ts';
import { Wait, type JobRef } from '../../../shared/protocol.ts';
import { sayCount, sayDuration } from '../../../shared/format.ts';
import { validateRef } from '../../../shared/validateQuery.ts';
import { duration, invalid, many, parsed, parsePair, text, toggle, type Values } from '../args.ts';
import { verb, type Context } from '../verb.ts';
import { waitJobs, waitStatus } from '../waitJobs.ts';

const FLAGS = {
  all: toggle('Every job that is live now'),
  any: toggle('Until the first of them has ended'),
  lane: text('NAME', 'With --all: only of this lane', { aliases: ['queue'] }),
  tag: many(parsed('K=V', 'With --all: only with this tag (repeatable)', parsePair)),
  timeout: duration('Give up after this time, with exit status 4'),
};

export default verb({
  name: 'wait',
  summary: 'Wait until jobs have ended',
  usage: ['lane wait [flags] ID…', 'lane wait [flags] --all'],
  details: [
    'Exits with 0 when the jobs that ended are done, 6 when one of them is dead or canceled, 4 after --timeout.',
  ],
  flags: FLAGS,
  examples: [
    { line: 'lane wait last', says: 'The newest job' },
    { line: 'lane wait 12 13 --any', says: 'Until one of them has ended' },
    { line: 'lane wait --all --lane build --timeout 10m', says: 'Until a lane is idle' },
  ],
  async run(context, { flags, words, rest }) {
    const named = [...words, ...(rest ?? [])].map(validateRef);
    const ids = await chosen(context, flags, named);
    if (ids === null) return waitForMany(context, flags);
    const { any, timeout } = flags;
    const { jobs, timedOut } =
      ids.length === 0 ? { jobs: [], timedOut: false } : await waitJobs(context, ids, { any, timeoutMs: timeout });
    if (ids.length === 0) context.note('Nothing to wait for: no such job is live.');
    if (context.json) context.print({ jobs, timedOut });
    else for (const job of jobs) context.out(`Job ${job.id} is ${job.state}\n`);
    if (timedOut) {
      const open = jobs.filter(({ finishedAt }) => finishedAt === null).length;
      context.note(`lane: after ${sayDuration(timeout ?? 0)} ${sayCount(open, 'job')} had not ended`);
      return 4;
    }
    return waitStatus(jobs);
  },
});

/** The ids to wait for; null when there are too many to name. */
async function chosen(context: Context, flags: Values<typeof FLAGS>, named: JobRef[]): Promise<JobRef[] | null> {
  if (!flags.all) {
    if (flags.lane !== null || flags.tag.length > 0) throw invalid('--lane and --tag choose among --all', 'Add --all.');
    if (named.length === 0) throw invalid('No job is named', 'Name ids, or wait for --all.');
    if (named.every((ref) => typeof ref === 'number')) return named;
    // "last" may be another job by the time a lost connection is taken up again.
    return (await context.request(Wait, { selection: { ids: named }, timeoutMs: 0 })).jobs.map(({ id }) => id);
  }
  if (named.length > 0) throw invalid('Both ids and --all were given', 'Give one of the two.');
  const { jobs } = await context.request(Wait, { selection: selectionOf(flags), timeoutMs: 0 });
  return jobs.length > MAX_BATCH ? null : jobs.map(({ id }) => id);
}

/** More jobs than can be named: one request that the server answers, without taking up a lost connection. */
async function waitForMany(context: Context, flags: Values<typeof FLAGS>): Promise<number> {
  const { any, timeout } = flags;
  context.note(`Waiting for more than ${sayCount(MAX_BATCH, 'job')}`);
  const answer = await context.request(Wait, { selection: selectionOf(flags), any, timeoutMs: timeout });
  if (context.json) context.print(answer);
  return answer.timedOut ? 4 : waitStatus(answer.jobs);
}

function selectionOf({ lane, tag }: Values<typeof FLAGS>) {
  return { all: true, lane, tags: tag.length > 0 ? Object.fromEntries(tag) : null };
}
