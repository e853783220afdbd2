/** `lane events`: the ledger, past and to come. */
import { MAX_EVENTS } from '../../../shared/limits.ts';
import { parseDuration } from '../../../shared/duration.ts';
import type { JobEvent } from '../../../shared/event.ts';
import { sayTime } from '../../../shared/format.ts';
import { Events, type JobRef, type Result } from '../../../shared/protocol.ts';
import { escapeControls, pad } from '../../../shared/text.ts';
import { validateRef } from '../../../shared/validateQuery.ts';
import { invalid, parsed, toggle, whole } from '../args.ts';
import { persist } from '../persist.ts';
import { verb, type Context } from '../verb.ts';

/** Milliseconds one request waits for the next event, before it is asked again. */
const LONG_POLL_MS = 60_000;

export default verb({
  name: 'events',
  summary: 'Print what happened, oldest first',
  usage: ['lane events [flags]'],
  details: [
    '--follow begins with what happens from now on, unless --since says otherwise. Ids only grow: the last one printed is where to go on with --since.',
  ],
  flags: {
    since: whole('ID', 'Only events after this one', 0, Number.MAX_SAFE_INTEGER),
    job: parsed('ID', 'Only of this job', validateRef),
    limit: whole('N', 'At most this many (default: 1000)', 1, MAX_EVENTS),
    follow: toggle('Go on with new events until interrupted', { short: 'f' }),
    wait: parsed('D', 'When there is none yet, wait this long for one', (given) =>
      parseDuration(given, { what: 'the value', min: 0 }),
    ),
  },
  examples: [
    { line: 'lane events --limit 20', says: 'The first twenty' },
    { line: 'lane events -f --json', says: 'One JSON object a line, as things happen' },
    { line: 'lane events --job last', says: 'What became of the newest job' },
  ],
  async run(context, { flags, words, rest }) {
    if (words.length > 0 || rest !== null) throw invalid('lane events takes no words', 'One job: lane events --job ID');
    const { since, job, limit, wait } = flags;
    if (flags.follow) {
      if (wait !== null || limit !== null)
        throw invalid('--follow goes on without --wait and --limit', 'Leave them out.');
      return follow(context, job, since);
    }
    const page = await context.request(Events, { since, job, limit, waitMs: wait });
    if (context.json) context.print(page);
    else for (const event of page.events) context.out(`${eventLine(event)}\n`);
    return 0;
  },
});

/** Never returns by itself. */
async function follow(context: Context, job: JobRef | null, since: number | null): Promise<number> {
  let cursor = since;
  let instance: string | null = null;
  return persist(context, async (connection): Promise<number> => {
    const { welcome } = connection;
    if (instance !== null && instance !== welcome.instance) {
      context.note('lane: the database was replaced; following the new one from its beginning');
      cursor = 0;
    }
    instance = welcome.instance;
    cursor ??= welcome.cursor;
    for (;;) {
      const page: Result<typeof Events> = await connection.request(Events, {
        since: cursor,
        job,
        waitMs: LONG_POLL_MS,
      });
      for (const event of page.events) {
        if (context.json) context.print(event);
        else context.out(`${eventLine(event)}\n`);
      }
      cursor = page.cursor;
    }
  });
}

/** `17  2031-05-04 18:30:05  job 12  claimed  attempt 1` */
function eventLine(event: JobEvent): string {
  const subject = event.jobId === null ? '-' : `job ${event.jobId}`;
  const parts = [pad(String(event.id), 6, 'right'), sayTime(event.at), pad(subject, 10), pad(event.type, 16)];
  if (event.attempt !== null) parts.push(`attempt ${event.attempt}`);
  const detail = Object.entries(event.detail).filter(([, value]) => value !== null);
  parts.push(...detail.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`));
  return escapeControls(parts.join('  ').trimEnd());
}
