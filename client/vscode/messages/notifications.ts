/** Tells how the jobs that were added from this window ended. Asks only when the counts say it may have happened. */
import { toErrorData } from '../../../shared/errors.ts';
import type { Counts, Job } from '../../../shared/job.ts';
import { MAX_LIST } from '../../../shared/limits.ts';
import { List, Show } from '../../../shared/protocol.ts';
import { notifications } from '../config.ts';
import type { Laneway, Queue } from '../context.ts';
import { foldEndings, settle, worthAsking } from './endings.ts';
import { tell } from './tell.ts';

/** How far back a rise in the counts may concern a job that was added just now, in milliseconds. */
const JUST_NOW_MS = 2000;
/** Endings this close together, in milliseconds, become one message. */
const FOLD_MS = 400;

export class Notifications {
  readonly #laneway: Laneway;
  readonly #followed = new Map<Queue, Set<number>>();
  readonly #seen = new Map<Queue, Counts>();
  /** When deaths or successes were last counted, in milliseconds since the epoch. */
  readonly #rose = new Map<Queue, number>();
  readonly #bound: { dispose(): void }[] = [];
  readonly #told: { queue: Queue; job: Job }[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(laneway: Laneway) {
    this.#laneway = laneway;
  }

  /** Listen to these queues' hints, and to no others. */
  bind(queues: readonly Queue[]): void {
    for (const bound of this.#bound.splice(0)) bound.dispose();
    for (const queue of this.#followed.keys()) if (!queues.includes(queue)) this.#followed.delete(queue);
    this.#bound.push(...queues.map((queue) => queue.cache.onDidHint(({ counts }) => this.#onHint(queue, counts))));
  }

  /** From now on this job's ending is told. */
  follow(queue: Queue, job: Job): void {
    const ids = this.#followed.get(queue) ?? new Set();
    this.#followed.set(queue, ids.add(job.id));
    // A short job may have ended before the answer to its add was read.
    if (Date.now() - (this.#rose.get(queue) ?? 0) < JUST_NOW_MS) this.#look(queue, ids);
  }

  dispose(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.bind([]);
  }

  #onHint(queue: Queue, counts: Counts): void {
    const ids = this.#followed.get(queue);
    const before = this.#seen.get(queue) ?? null;
    this.#seen.set(queue, counts);
    if (!worthAsking(before, counts, notifications(this.#laneway.settings))) return;
    this.#rose.set(queue, Date.now());
    if (ids && ids.size > 0) this.#look(queue, ids);
  }

  #look(queue: Queue, ids: Set<number>): void {
    this.#ask(queue, ids).catch((error: unknown) => {
      this.#laneway.log.debug(`looking for ended jobs: ${toErrorData(error).message}`);
    });
  }

  async #ask(queue: Queue, followed: Set<number>): Promise<void> {
    const ids = [...followed].slice(-MAX_LIST);
    const { jobs } = await queue.request(List, { ids, limit: ids.length });
    const { ended, told } = settle(jobs, notifications(this.#laneway.settings));
    for (const job of ended) followed.delete(job.id);
    if (told.length === 0) return;
    this.#told.push(...told.map((job) => ({ queue, job })));
    this.#timer ??= setTimeout(() => void this.#tell(), FOLD_MS);
  }

  async #tell(): Promise<void> {
    this.#timer = null;
    const told = this.#told.splice(0);
    const [first] = told;
    const reason = told.length === 1 && first ? await whyNotStarted(first.queue, first.job) : null;
    const ending = foldEndings(
      told.map(({ job }) => job),
      (job) => told.find((one) => one.job === job),
      reason,
    );
    if (ending) tell(ending.kind, ending.text, ending.steps);
  }
}

/** What stood against starting its last attempt, such as a folder that is gone; null when that is not how it ended. */
async function whyNotStarted(queue: Queue, { id, failureReason }: Job): Promise<string | null> {
  if (failureReason !== 'spawn_failed') return null;
  const shown = await queue.request(Show, { job: id }).catch(() => null);
  return shown?.attempts.at(-1)?.error ?? null;
}
