/**
 * The queue once more, as small as it can be said: a list of jobs in memory, every rule of the
 * specification as one line of code. It knows no database, no lease and no batch. The property test
 * drives it beside the store; where they differ, one of the two is wrong.
 */
import type { AttemptEnd, Owner } from '../../server/store/api.ts';
import type { JobState, NeedPolicy } from '../../shared/job.ts';

export interface ModelJob {
  id: number;
  lane: string;
  state: JobState;
  priority: number;
  at: number;
  delayed: boolean;
  needs: { id: number; satisfied: boolean }[];
  policy: NeedPolicy;
  key: string | null;
  maxRetries: number;
  maxCrashes: number;
  failures: number;
  crashes: number;
  attempts: number;
  fence: number;
  asked: 'no' | 'cancel' | 'retry';
}

export type NewModelJob = Pick<ModelJob, 'lane' | 'priority' | 'policy' | 'key' | 'maxRetries' | 'maxCrashes'> & {
  afterMs: number | null;
  needs: number[];
};

const ENDED: ReadonlySet<JobState> = new Set(['done', 'dead', 'canceled']);
const RETRY_DELAY = 2000;

export class Model {
  readonly jobs: ModelJob[] = [];
  readonly paused = new Set<string>();
  now = 0;
  readonly #slots: Record<string, number>;

  constructor(slots: Record<string, number>) {
    this.#slots = slots;
  }

  job(id: number): ModelJob {
    return this.jobs[id - 1] as ModelJob;
  }

  /** The id of the new job, or of the live one that has its key; null for a key conflict. */
  add(request: NewModelJob): number | null {
    const { afterMs, needs, ...given } = request;
    const holder = this.jobs.find((job) => request.key !== null && job.key === request.key && !ENDED.has(job.state));
    if (holder) return holder.lane === request.lane ? holder.id : null;
    const ended = (id: number): boolean => this.job(id).state === 'dead' || this.job(id).state === 'canceled';
    const job: ModelJob = {
      ...given,
      id: this.jobs.length + 1,
      state: 'queued',
      at: this.now + (afterMs ?? 0),
      delayed: afterMs !== null,
      needs: [...new Set(needs)].map((id) => ({
        id,
        satisfied: this.job(id).state === 'done' || (ended(id) && request.policy === 'release'),
      })),
      failures: 0,
      crashes: 0,
      attempts: 0,
      fence: 0,
      asked: 'no',
    };
    this.jobs.push(job);
    if (job.needs.some((need) => !need.satisfied)) job.state = 'blocked';
    if (job.needs.some((need) => !need.satisfied && ended(need.id))) this.#end(job, settledState(job.policy));
    return job.id;
  }

  /** The ids a claim gives, in order. */
  claim(limit: number): number[] {
    const ids: number[] = [];
    for (const job of this.jobs) if (job.state === 'queued' && job.at <= this.now) job.delayed = false;
    while (ids.length < limit) {
      const [first] = this.jobs
        .filter((job) => job.state === 'queued' && !job.delayed && this.#mayRun(job.lane))
        .sort((a, b) => b.priority - a.priority || a.at - b.at || a.id - b.id);
      if (!first) break;
      Object.assign(first, { state: 'running', attempts: first.attempts + 1, fence: first.fence + 1, asked: 'no' });
      ids.push(first.id);
    }
    return ids;
  }

  #mayRun(lane: string): boolean {
    const running = this.jobs.filter((job) => job.lane === lane && job.state === 'running').length;
    return !this.paused.has(lane) && running < (this.#slots[lane] ?? 1);
  }

  owns(owner: Owner): boolean {
    const job = this.job(owner.jobId);
    return job.state === 'running' && job.attempts === owner.attempt && job.fence === owner.fence;
  }

  finish(id: number, end: AttemptEnd): void {
    const job = this.job(id);
    if (end.kind === 'exited' && end.exitCode === 0 && (!end.signalled || job.asked === 'no')) this.#end(job, 'done');
    else if (job.asked === 'cancel') this.#end(job, 'canceled');
    else if (job.asked === 'retry') Object.assign(job, { state: 'queued', at: this.now, failures: 0, crashes: 0 });
    else if (end.kind === 'stopped') job.state = 'queued';
    else if (end.kind === 'machine_trouble') this.#later(job, 1);
    else if (++job.failures > job.maxRetries) this.#end(job, 'dead');
    else this.#later(job, job.failures);
  }

  reap(id: number): void {
    const job = this.job(id);
    job.fence += 1;
    if (job.asked === 'cancel') this.#end(job, 'canceled');
    else if (job.asked === 'retry') Object.assign(job, { state: 'queued', at: this.now, failures: 0, crashes: 0 });
    else if (++job.crashes > job.maxCrashes) this.#end(job, 'dead');
    else this.#later(job, job.crashes);
  }

  #later(job: ModelJob, n: number): void {
    Object.assign(job, { state: 'queued', at: this.now + Math.min(60_000, RETRY_DELAY * 2 ** (n - 1)), delayed: true });
  }

  /** False: refused. */
  cancel(id: number): boolean {
    const job = this.job(id);
    if (job.state === 'done' || job.state === 'dead') return false;
    if (job.state === 'running') job.asked = 'cancel';
    else if (job.state !== 'canceled') this.#end(job, 'canceled');
    return true;
  }

  /** False: refused. `backingOff` is whether the store still shows it as waiting for its next try. */
  retry(id: number, force: boolean, backingOff: boolean): boolean {
    const job = this.job(id);
    switch (job.state) {
      case 'running':
        if (!force || job.asked === 'cancel') return false;
        job.asked = 'retry';
        return true;
      case 'queued':
        if (!backingOff && job.failures + job.crashes === 0) return false;
        if (job.delayed) Object.assign(job, { at: this.now, delayed: false });
        Object.assign(job, { failures: 0, crashes: 0 });
        return true;
      case 'dead':
        return this.#revive(job);
      default:
        return false;
    }
  }

  #revive(job: ModelJob): boolean {
    const taken = this.jobs.some((other) => job.key !== null && other.key === job.key && !ENDED.has(other.state));
    const lost = job.policy !== 'release' && job.needs.some((need) => this.job(need.id).state === 'canceled');
    if (taken || lost) return false;
    for (const need of job.needs) {
      const { state } = this.job(need.id);
      need.satisfied = state === 'done' || (ENDED.has(state) && job.policy === 'release');
    }
    const state = job.needs.every((need) => need.satisfied) ? 'queued' : 'blocked';
    Object.assign(job, { state, at: this.now, delayed: false, failures: 0, crashes: 0, asked: 'no' });
    return true;
  }

  /** False: refused. */
  bump(id: number, priority: number | null, now: boolean): boolean {
    const job = this.job(id);
    if (job.state !== 'queued' && job.state !== 'blocked') return false;
    if (priority !== null) job.priority = priority;
    if (now && job.delayed) Object.assign(job, { at: this.now, delayed: false });
    return true;
  }

  #end(job: ModelJob, state: JobState): void {
    Object.assign(job, { state, asked: 'no' });
    for (const other of this.jobs) {
      const need = other.needs.find(({ id, satisfied }) => id === job.id && !satisfied);
      if (other.state !== 'blocked' || !need) continue;
      if (state !== 'done' && other.policy !== 'release') this.#end(other, settledState(other.policy));
      else {
        need.satisfied = true;
        if (other.needs.every(({ satisfied }) => satisfied)) other.state = 'queued';
      }
    }
  }
}

const settledState = (policy: NeedPolicy): JobState => (policy === 'dead' ? 'dead' : 'canceled');
