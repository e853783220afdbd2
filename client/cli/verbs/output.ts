/** `lane output`: what an attempt wrote, as it is kept. */
import { sayLocally } from '../../../shared/format.ts';
import { DEFAULT_PAGE_BYTES, MAX_PAGE_BYTES } from '../../../shared/limits.ts';
import { Output, Show, type JobRef, type OutputPage, type Stream } from '../../../shared/protocol.ts';
import { escapeControls } from '../../../shared/text.ts';
import { validateRef } from '../../../shared/validateQuery.ts';
import { choice, invalid, parsed, parseWhole, toggle, whole, type Values } from '../args.ts';
import { verb, type Context } from '../verb.ts';

const HUGE = Number.MAX_SAFE_INTEGER;
const PAGE_BYTES = 1_048_576;

const bytes = (help: string) => parsed('BYTES', help, (given) => parseWhole(given, 0, HUGE));

const FLAGS = {
  attempt: whole('N', 'An earlier attempt than the latest', 1, HUGE),
  stream: choice(
    'both (default), stdout or stderr; of use for jobs added with --split',
    ['both', 'stdout', 'stderr'],
    'S',
  ),
  follow: toggle('Go on with what is written, until the job has ended', { short: 'f' }),
  tail: bytes('Begin this many bytes before the end'),
  offset: bytes('Begin at this byte'),
  limit: bytes('Stop after this many bytes (with --json by default 1 MiB)'),
  raw: toggle('The exact bytes, also what is no UTF-8'),
};

export default verb({
  name: 'output',
  aliases: ['logs'],
  summary: 'Print what a job wrote',
  usage: ['lane output [flags] ID'],
  details: ['Without --raw, bytes that are no UTF-8 are shown as \ufffd.'],
  flags: FLAGS,
  examples: [
    { line: 'lane output last', says: 'The newest job' },
    { line: 'lane output -f 12', says: 'Follow until the job has ended' },
    { line: 'lane output --tail 4096 12', says: 'The last 4 KiB' },
    { line: 'lane output --attempt 1 --raw 12 > first.log', says: 'The first attempt, byte for byte' },
  ],
  async run(context, { flags, words, rest }) {
    const job = oneJob([...words, ...(rest ?? [])]);
    if (flags.tail !== null && flags.offset !== null)
      throw invalid('--tail and --offset exclude each other', 'Give one of the two.');
    if (flags.follow) {
      if (flags.limit !== null) throw invalid('--limit and --follow exclude each other', 'Give one of the two.');
      await follow(context, flags, job);
      return 0;
    }
    const page = context.json ? await printPage(context, flags, job) : await printAll(context, flags, job);
    if (page?.attempt === 0) await sayNotStarted(context, page.jobId);
    return 0;
  },
});

type Given = Values<typeof FLAGS>;

/** Checked here too, so that a mistyped word costs no server. */
function oneJob(words: readonly string[]): JobRef {
  if (words.length !== 1) {
    throw invalid(words.length === 0 ? 'No job is named' : 'One job is expected', 'For example: lane output last');
  }
  return validateRef(words[0]);
}

async function printPage(context: Context, flags: Given, job: JobRef): Promise<OutputPage> {
  const limit = flags.limit ?? DEFAULT_PAGE_BYTES;
  if (limit > MAX_PAGE_BYTES)
    throw invalid(`--limit: at most ${MAX_PAGE_BYTES} bytes fit into one JSON document`, 'Page with --offset.');
  const { attempt, stream, offset, tail, raw } = flags;
  const page = await context.request(Output, { job, attempt, stream, offset, tail, limit, raw });
  context.print(pageOf(atMost(page, limit)));
  return page;
}

/** Page by page, so that a log of any size passes through little memory. Gives the last one. */
async function printAll(context: Context, flags: Given, job: JobRef): Promise<OutputPage | null> {
  let left = flags.limit ?? HUGE;
  const { stream, raw } = flags;
  let place = { job, attempt: flags.attempt, offset: flags.offset, tail: flags.tail };
  let end = HUGE;
  while (left > 0) {
    const page = await context.request(Output, { ...place, stream, raw, limit: Math.min(left, PAGE_BYTES) });
    // A job that goes on writing must not keep us here: what was there at the call is what was asked for.
    if (end === HUGE) end = page.size;
    show(context, atMost(page, left), raw);
    left -= page.bytes;
    if (page.bytes === 0 || page.offset + page.bytes >= end) return page;
    place = { job: page.jobId, attempt: page.attempt, offset: page.offset + page.bytes, tail: null };
  }
  return null;
}

/** Nothing printed could also mean that it wrote nothing. */
async function sayNotStarted(context: Context, id: number): Promise<void> {
  if (context.json) return;
  const { job } = await context.request(Show, { job: id });
  const why = job.waitReason === null ? `it is ${job.state}` : sayLocally(job.waitReason);
  context.note(`lane: job ${id} has not started: ${escapeControls(why)}`);
}

async function follow(context: Context, flags: Given, ref: JobRef): Promise<void> {
  const { followJob, followLog } = await import('../follow.ts');
  const { persist } = await import('../persist.ts');
  const stream: Stream = flags.stream ?? 'both';
  const take = (page: OutputPage): void => {
    if (context.json) context.print(pageOf(page));
    else show(context, page, flags.raw);
  };
  const { job } = await context.request(Show, { job: ref });
  const attempt = flags.attempt ?? Math.max(1, job.attempts);
  let offset = flags.offset ?? 0;
  if (flags.tail !== null && job.attempts > 0) {
    const first = await context.request(Output, {
      job: job.id,
      attempt,
      stream,
      tail: flags.tail,
      limit: 1,
      raw: flags.raw,
    });
    offset = first.offset;
  }
  if (flags.attempt === null) {
    await followJob(context, job.id, { attempt, streams: [stream], raw: flags.raw, offset, take });
  } else {
    const place = { job: job.id, attempt, stream, offset, raw: flags.raw };
    await persist(context, (connection) => followLog(connection, place, take));
  }
}

function show(context: Context, page: OutputPage, raw: boolean): void {
  context.out(raw ? Buffer.from(page.base64, 'base64') : page.text);
}

/** The server rounds a limit up that no character may fit into; here it is the person's, and holds. */
function atMost(page: OutputPage, limit: number): OutputPage {
  if (page.bytes <= limit) return page;
  const bytes = Buffer.from(page.base64, 'base64').subarray(0, limit);
  return { ...page, bytes: limit, base64: bytes.toString('base64'), text: bytes.toString(), complete: false };
}

/** The documented shape: `size` is between the server and its clients. */
function pageOf({
  jobId,
  attempt,
  stream,
  text,
  base64,
  bytes,
  offset,
  complete,
}: OutputPage): Omit<OutputPage, 'size'> {
  return { jobId, attempt, stream, text, base64, bytes, offset, complete };
}
