/** `lane run`: a job as if it ran in the foreground. */
import os from 'node:os';
import type { Job } from '../../../shared/job.ts';
import { Add, Cancel, Show } from '../../../shared/protocol.ts';
import { escapeControls } from '../../../shared/text.ts';
import { callerOf, JOB_FLAGS, requestOf } from '../addFlags.ts';
import { refuseOwnSlot } from '../ownSlot.ts';
import { seeThrough } from '../seeThrough.ts';
import { OutputClosed, verb, type Context } from '../verb.ts';

/** Anything of Laneway's own, so that it is not taken for the job's status. */
const OWN_FAILURE = 125;

export default verb({
  name: 'run',
  summary: 'Queue a job, show its output, and exit as it does',
  usage: ['lane run [flags] -- COMMAND [ARG…]', 'lane run [flags] -c TEXT'],
  details: [
    "Exits with the job's own status, 128+N after signal N, 124 after a timeout, 127 when it could not be started, 130 when it was cancelled, and 125 for anything of Laneway's own.",
    'Ctrl-C cancels the job; a second Ctrl-C leaves it to itself, as closing the terminal does. A job that was there already (--key) is only left.',
  ],
  flags: JOB_FLAGS,
  ownFailure: OWN_FAILURE,
  examples: [
    { line: 'lane run -- npm test', says: 'Run in turn with the other jobs of the default lane' },
    { line: 'lane run --lane db --timeout 5m -- ./migrate', says: 'One at a time, and never longer than five minutes' },
  ],
  async run(context, args) {
    const request = requestOf(args, context);
    if (context.env['LANEWAY_JOB_ID'] !== undefined) await refuseOwnSlot(context, [request]);
    const added = await context.request(
      Add,
      { jobs: [request], caller: callerOf(context, args.flags.cleanEnv) },
      { execute: true },
    );
    const job = added.jobs[0]!;
    const ours = added.deduplicated.length === 0;
    if (!ours) context.note(`lane: job ${job.id} with this key is there already; showing it`);

    let interrupts = 0;
    const detached = new Promise<'detached'>((resolve) => {
      context.onInterrupt(() => {
        interrupts += 1;
        if (!ours || interrupts > 1) {
          resolve('detached');
          return;
        }
        context.note(`lane: cancelling job ${job.id} (Ctrl-C again leaves it to itself)`);
        cancel(context, job.id);
      });
    });
    try {
      const ended = await Promise.race([seeThrough(context, job, !context.json), detached]);
      if (ended === 'detached') {
        context.note(`lane: job ${job.id} goes on; see it with: lane output -f ${job.id}`);
        return 130;
      }
      if (context.json) context.print({ job: ended });
      const reason = ended.failureReason === 'spawn_failed' ? await spawnError(context, ended.id) : null;
      return statusOf(ended, context, reason);
    } catch (error) {
      if (!(error instanceof OutputClosed)) throw error;
      context.note(`lane: nobody reads the output any more; job ${job.id} goes on`);
      return OWN_FAILURE;
    }
  },
});

function cancel(context: Context, id: number): void {
  context.request(Cancel, { selection: { ids: [id] } }).then(
    ({ results }) => {
      // A conflict means that it has just ended, which is about to be seen.
      const error = results[0]?.error;
      if (error && error.code !== 'CONFLICT') context.note(`lane: ${error.message}`);
    },
    (error: unknown) => context.note(`lane: the job could not be cancelled: ${(error as Error).message}`),
  );
}

/** Why the last attempt could not be started; null when that cannot be learned. */
async function spawnError(context: Context, id: number): Promise<string | null> {
  try {
    const { attempts } = await context.request(Show, { job: id });
    return attempts.at(-1)?.error ?? null;
  } catch {
    return null;
  }
}

/**
 * What a shell would say of the job.
 * @param reason why it could not be started, where that is known
 */
export function statusOf(job: Job, context: Pick<Context, 'note'>, reason: string | null = null): number {
  if (job.state === 'done') return 0;
  switch (job.failureReason) {
    case 'process_exit': {
      if (job.signal === null) return job.exitCode ?? OWN_FAILURE;
      const number = os.constants.signals[job.signal as NodeJS.Signals];
      return number === undefined ? OWN_FAILURE : 128 + number;
    }
    case 'timeout':
      context.note(`lane: job ${job.id} took longer than its timeout`);
      return 124;
    case 'spawn_failed':
      context.note(
        `lane: job ${job.id} could not be started${reason === null ? `; see: lane show ${job.id}` : `: ${escapeControls(reason)}`}`,
      );
      return 127;
    case 'canceled':
      return 130;
    case 'dependency':
      context.note(`lane: job ${job.id} did not run, because a job it needs failed`);
      return job.state === 'canceled' ? 130 : OWN_FAILURE;
    case 'worker_crash':
    case 'log_limit':
    case 'unknown':
    case null:
      if (job.state === 'canceled') return 130;
      context.note(
        `lane: job ${job.id} ended ${job.state}${job.failureReason === null ? '' : ` (${job.failureReason})`}`,
      );
      return OWN_FAILURE;
  }
}
