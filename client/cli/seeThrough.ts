/** Seeing a job through to its end, with or without its output, once it was added. */
import type { Job } from '../../shared/job.ts';
import type { OutputPage } from '../../shared/protocol.ts';
import { followJob } from './follow.ts';
import type { Context } from './verb.ts';
import { waitJobs } from './waitJobs.ts';

/** The job once it has ended; meanwhile its output, to the streams it belongs to, when `follow`. */
export async function seeThrough(context: Context, job: Job, follow: boolean): Promise<Job> {
  if (!follow) return (await waitJobs(context, [job.id])).jobs[0]!;
  return followJob(context, job.id, {
    attempt: Math.max(1, job.attempts),
    streams: job.split ? ['stdout', 'stderr'] : ['both'],
    raw: true,
    take: (page) => passOn(context, page),
  });
}

function passOn(context: Context, page: OutputPage): void {
  const bytes = Buffer.from(page.base64, 'base64');
  if (page.stream === 'stderr') context.err(bytes);
  else context.out(bytes);
}
