/** `lane sleep`: a sleep that holds no slot and outlives everything. */
import { parseDuration } from '../../../shared/duration.ts';
import { sayTime } from '../../../shared/format.ts';
import { validateStageName } from '../../../shared/validateQuery.ts';
import { invalid } from '../args.ts';
import { inJob, stageName } from '../inJob.ts';
import { verb } from '../verb.ts';

/** sysexits' EX_TEMPFAIL: try again later, which is what happens. */
const END_NOW = 75;
const USAGE = 'For example: lane sleep cool-down 10m || exit';

export default verb({
  name: 'sleep',
  summary: 'Inside a job: give the slot back and go on later',
  usage: ['lane sleep NAME DURATION'],
  details: [
    'The first call records when the job shall run again and exits 75; the job must then end, with any status but 0. When it runs again after that time, the same call exits 0 at once.',
    'No retry is spent. In a script: lane sleep NAME 10m || exit',
  ],
  flags: {},
  examples: [{ line: 'lane sleep settle 30m || exit', says: "In a job's script: end here, go on in half an hour" }],
  async run(context, { words, rest }) {
    const given = [...words, ...(rest ?? [])];
    const [first, length] = given;
    if (given.length !== 2 || first === undefined || length === undefined)
      throw invalid('A name and a duration are expected', USAGE);
    const name = validateStageName(stageName([first], USAGE));
    const durationMs = parseDuration(length);
    const job = inJob(context, 'sleep');
    const { elapsed, until } = await context.server().recordSleep(job, name, durationMs);
    if (context.json) context.print({ elapsed, until: new Date(until).toISOString() });
    else if (!elapsed) context.note(`lane: sleeping until ${sayTime(until)}`);
    return elapsed ? 0 : END_NOW;
  },
});
