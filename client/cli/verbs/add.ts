/** `lane add`: queue one job, or a batch. The hottest path of the whole command: it loads little. */
import { sayLocally } from '../../../shared/format.ts';
import type { AddRequest, Job } from '../../../shared/job.ts';
import { Add } from '../../../shared/protocol.ts';
import { callerOf, JOB_FLAGS, requestOf } from '../addFlags.ts';
import { invalid, text, toggle, type Parsed } from '../args.ts';
import { verb, type Context } from '../verb.ts';

const FLAGS = {
  ...JOB_FLAGS,
  from: text('FILE|-', "Queue a batch: one JSON object a line with the flags' names in camelCase"),
  wait: toggle('Wait for the end; exit 6 when it is not done'),
  follow: toggle('Show the output until the job has ended', { short: 'f' }),
};

export default verb({
  name: 'add',
  summary: 'Queue a job',
  usage: ['lane add [flags] -- COMMAND [ARG…]', 'lane add [flags] -c TEXT', 'lane add [flags] --from FILE|-'],
  details: [
    'The job gets the command as given, without a shell, the current directory, and this environment.',
    'Without --lane it waits in the lane "default", where one job runs at a time.',
    'A batch is queued whole or not at all. A line holds "argv" or "command", and any of "lane", "priority", "after", "at", "timeout", "retries", "crashes", "retryDelay", "retryMaxDelay", "grace", "cwd", "env", "label", "tag", "key", "needs", "onNeedFailure", "split"; "needs" may hold {"line":N} for an earlier line. Flags beside --from are defaults for every line.',
  ],
  flags: FLAGS,
  examples: [
    { line: 'lane add -- npm test', says: 'Queue a command' },
    { line: 'lane add --lane build --retries 2 -- make -j4', says: 'In a lane of its own, tried up to three times' },
    { line: "lane add -c 'make && make install'", says: 'Shell text' },
    { line: 'lane add --after 10m --key nightly -- ./backup', says: 'Later, and only once at a time' },
    { line: 'lane add --needs 12,13 --wait -- ./deploy', says: 'After two other jobs, waiting for the end' },
    { line: 'lane add --from jobs.ndjson', says: 'Many jobs in one transaction' },
  ],
  async run(context, args) {
    if (args.flags.from !== null) return addBatch(context, args);
    const { follow, wait, cleanEnv } = args.flags;
    const request = requestOf(args, context);
    if (wait || follow) await mayWait(context, [request]);
    const added = await context.request(
      Add,
      { jobs: [request], caller: callerOf(context, cleanEnv) },
      { execute: wait || follow },
    );
    const job = added.jobs[0]!;
    const deduplicated = added.deduplicated.length > 0;
    if (!wait && !follow) {
      if (context.json) context.print({ job, deduplicated });
      else context.out(`${addedLine(job, deduplicated)}\n`);
      return 0;
    }
    context.note(addedLine(job, deduplicated));
    const { seeThrough } = await import('../seeThrough.ts');
    const ended = await seeThrough(context, job, follow && !context.json);
    if (context.json) context.print({ job: ended, deduplicated });
    return ended.state === 'done' ? 0 : 6;
  },
});

/** Inside a job only. */
async function mayWait(context: Context, jobs: readonly AddRequest[]): Promise<void> {
  if (context.env['LANEWAY_JOB_ID'] === undefined) return;
  const { refuseOwnSlot } = await import('../ownSlot.ts');
  await refuseOwnSlot(context, jobs);
}

async function addBatch(context: Context, args: Parsed<typeof FLAGS>): Promise<number> {
  if (args.rest !== null || args.words.length > 0 || args.flags.command !== null) {
    throw invalid('--from was given together with a command', 'Give one of the two.');
  }
  if (args.flags.follow)
    throw invalid('--follow shows one job; --from queues several', 'Use --wait, or "lane output".');
  const { ofLine, readBatch } = await import('../batch.ts');
  const batch = readBatch(args.flags.from ?? '-', args.flags, context);
  const { jobs } = batch;
  if (args.flags.wait) await mayWait(context, jobs);
  const caller = callerOf(context, args.flags.cleanEnv);
  const added = await context.request(Add, { jobs, caller }, { execute: args.flags.wait }).catch((error: unknown) => {
    throw ofLine(error, batch);
  });
  const known = new Set(added.deduplicated).size;
  const fresh = added.jobs.length - known;
  const there = known > 0 ? `; ${known} ${known === 1 ? 'was' : 'were'} there already` : '';
  const line = `Queued ${fresh} ${fresh === 1 ? 'job' : 'jobs'}${there}`;
  if (!args.flags.wait) {
    if (context.json) context.print(added);
    else context.out(`${line}\n`);
    return 0;
  }
  context.note(line);
  const { waitJobs, waitStatus } = await import('../waitJobs.ts');
  const { jobs: ended } = await waitJobs(context, [...new Set(added.jobs.map(({ id }) => id))]);
  if (context.json) context.print({ jobs: ended, deduplicated: added.deduplicated });
  return waitStatus(ended);
}

/** Names are checked by the server: nothing in this line can hold control characters. */
function addedLine(job: Job, deduplicated: boolean): string {
  if (deduplicated) return `Job ${job.id} is there already in lane ${job.lane}, with the same key`;
  // Only a need that had ended badly already ends a job this early.
  if (job.state === 'dead' || job.state === 'canceled')
    return `Job ${job.id} is ${job.state} already: a job it needs did not succeed`;
  const why = job.waitReason === null ? '' : `: ${sayLocally(job.waitReason)}`;
  return `Job ${job.id} queued in lane ${job.lane}${why}`;
}
