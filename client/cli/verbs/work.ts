/** `lane work`: a worker in the foreground, straight on the database. */
import { LANE_NAME, MAX_SLOTS } from '../../../shared/limits.ts';
import { sayDuration } from '../../../shared/format.ts';
import { quoteValue } from '../../../shared/text.ts';
import { duration, invalid, many, parsed, toggle, whole } from '../args.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'work',
  summary: 'Run jobs in the foreground, without a server',
  usage: ['lane work [flags]'],
  details: [
    'Any number of workers may share a queue with the server; the slots of a lane count over all of them.',
    'The first Ctrl-C (or TERM) takes no more jobs and lets the running ones finish; the second stops them, with their grace. A closed terminal is like the first.',
  ],
  flags: {
    lane: many(parsed('NAME', 'Only jobs of this lane (repeatable)', laneName, { aliases: ['queue'] })),
    slots: whole('N', 'At most this many jobs of one lane', 1, MAX_SLOTS),
    concurrency: whole('N', 'At most this many jobs at once (default: one per core)', 1, MAX_SLOTS),
    once: toggle('Run one job, then end'),
    drain: toggle('End when nothing is running, retrying or due'),
    idleTimeout: duration('End after this time without work'),
  },
  examples: [
    { line: 'lane work --drain', says: 'Run what is there, then end' },
    { line: 'lane work --lane build --concurrency 2', says: 'Two at a time, from one lane' },
  ],
  async run(context, { flags, words, rest }) {
    if (words.length > 0 || rest !== null) throw invalid('lane work takes no words', 'Lanes are named with --lane.');
    const draining = new AbortController();
    const stopping = new AbortController();
    const remove = context.onInterrupt(
      (signal) => {
        if (draining.signal.aborted) {
          // A closing terminal says so twice: the system does, and the shell.
          if (signal === 'SIGHUP') return;
          context.note('lane: stopping the running jobs');
          stopping.abort();
        } else {
          context.note('lane: taking no more jobs; running ones finish (again: stop them)');
          draining.abort();
        }
      },
      { term: true },
    );
    try {
      await context.server().work({
        workspace: context.workspace,
        lanes: flags.lane.length > 0 ? flags.lane : null,
        slots: flags.slots,
        concurrency: flags.concurrency,
        once: flags.once,
        drain: flags.drain,
        idleTimeoutMs: flags.idleTimeout,
        drainSignal: draining.signal,
        stopSignal: stopping.signal,
        onFinished: (line) => {
          if (context.json) context.print(line);
          else {
            const status = line.exitCode === null ? '' : `, exit ${line.exitCode}`;
            const then = line.jobState === 'queued' ? '; the job waits to run again' : `; the job is ${line.jobState}`;
            context.out(
              `Job ${line.jobId} attempt ${line.attempt} ${line.state}${status} after ${sayDuration(line.durationMs)}${then}\n`,
            );
          }
        },
      });
    } finally {
      remove();
    }
    return 0;
  },
});

function laneName(given: string): string {
  if (LANE_NAME.test(given)) return given;
  throw invalid(`${quoteValue(given)} is no lane name`);
}
