/**
 * The account that is drawn up once a queue has settled: every invariant holds, no two copies of a
 * job ever ran at once, no attempt was started twice, no finished stage ran again, nothing that
 * anybody was told of is lost, and nothing is left running.
 */
import assert from 'node:assert/strict';
import type { JobEvent } from '../../shared/event.ts';
import * as P from '../../shared/protocol.ts';
import { waitFor } from '../helpers/waitFor.ts';
import type { CrashQueue } from './support.ts';

export async function verify(queue: CrashQueue): Promise<void> {
  const { ok, checks } = await queue.own.request(P.Doctor, { deep: true });
  const bad = checks.filter(({ id, status }) => status === 'fail' || (id === 'logs' && status !== 'ok'));
  assert.deepEqual([bad, ok], [[], true]);
  assert.deepEqual(queue.lines('overlaps'), [], 'two copies of a job ran at once');
  const ran = queue.lines('ran');
  assert.equal(new Set(ran).size, ran.length, 'an attempt was started twice');
  const events = await queue.events();
  stagesRanOnce(queue, events);
  await nothingLost(queue, events, new Set(ran));
  await waitFor(() => queue.box.processes().length === 0, { what: 'no process to be left' });
}

/** Once a stage is stored, no later attempt has run it. */
function stagesRanOnce(queue: CrashQueue, events: JobEvent[]): void {
  const stored = new Map<string, number>();
  for (const { type, jobId, attempt, detail } of events) {
    if (type !== 'checkpointed') continue;
    const stage = `${jobId} ${String(detail['name'])}`;
    assert.ok(!stored.has(stage), `stage ${stage} was stored twice`);
    stored.set(stage, attempt ?? 0);
  }
  for (const line of queue.lines('stages')) {
    const [job, name, attempt] = line.split(' ');
    const by = stored.get(`${job} ${name}`) ?? Number.POSITIVE_INFINITY;
    assert.ok(Number(attempt) <= by, `stage ${name} of job ${job}, stored by attempt ${by}, ran in ${attempt}`);
  }
}

async function nothingLost(queue: CrashQueue, events: JobEvent[], ran: Set<string>): Promise<void> {
  const pruned = new Set(events.filter(({ type }) => type === 'pruned').map(({ jobId }) => jobId));
  const byHand = new Set(events.filter(({ detail }) => detail['manual'] === true).map(({ jobId }) => jobId));
  for (const id of queue.acknowledged) {
    if (pruned.has(id)) continue;
    const { job, attempts } = await queue.own.request(P.Show, { job: id });
    assert.ok(['done', 'dead', 'canceled'].includes(job.state), `job ${id} is ${job.state}`);
    if (job.state === 'done') assert.ok(ran.has(`${id}.${attempts.length}`), `job ${id} is done and never ran`);
    if (job.state === 'canceled' || byHand.has(id)) continue;
    const failed = attempts.filter(({ state }) => state === 'failed' || state === 'timed_out').length;
    const crashed = attempts.filter(({ failureReason }) => failureReason === 'worker_crash').length;
    assert.deepEqual([job.failures, job.crashes], [failed, crashed], `the budgets of job ${id}`);
  }
}
