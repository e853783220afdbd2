/**
 * When to claim, and how much. It polls nothing: it is woken by commits, by a slot that came free,
 * and by a timer for the next job that becomes due.
 */
import { MAX_TIMER_MS } from '../../shared/limits.ts';
import type { Claimed, Clock } from '../store/api.ts';

export interface SchedulerTools {
  clock: Clock;
  /** Slots free now; 0 when nothing is to be claimed at all. */
  free(): number;
  /** One transaction that fills up to `limit` slots. */
  claim(limit: number): Promise<Claimed[]>;
  run(claimed: Claimed): void;
  /** Epoch milliseconds of the next job that is not yet due; null: none. */
  nextDue(): number | null;
  /** The last claim left slots free. */
  onDry(): void;
  onError(error: unknown): void;
}

export interface Scheduler {
  /** Claim now, in this very tick, unless a claim is under way: then once more after it. */
  wake(): void;
  /** The clock may have stepped over the next due time. */
  beat(): void;
  /** Claim no more; resolves when no claim is under way, whose jobs are running by then. */
  close(): Promise<void>;
}

/** Claimed at once: starting a process blocks for about a millisecond. */
const MOST_AT_ONCE = 32;

export function createScheduler(tools: SchedulerTools): Scheduler {
  let claiming = false;
  const whenIdle: (() => void)[] = [];
  let again = false;
  let closed = false;
  let dueAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  const arm = (at: number | null) => {
    clearTimeout(timer);
    dueAt = at;
    if (at === null) return;
    const left = at - tools.clock.now();
    timer = setTimeout(() => (tools.clock.now() < at ? arm(at) : wake()), Math.min(Math.max(left, 0), MAX_TIMER_MS));
  };

  /** True: slots may be free and jobs waiting still. */
  const claimOnce = async (limit: number): Promise<boolean> => {
    const claimed = await tools.claim(limit);
    for (const job of claimed) tools.run(job);
    if (claimed.length === limit) return true;
    if (!closed) arm(tools.nextDue());
    return false;
  };

  const claimAll = async () => {
    claiming = true;
    let emptied = false;
    try {
      while (again) {
        if (closed) break;
        again = false;
        const limit = Math.min(tools.free(), MOST_AT_ONCE);
        if (limit === 0) emptied = false;
        else if (await claimOnce(limit)) again = true;
        else emptied = true;
      }
    } catch (error) {
      emptied = false;
      tools.onError(error);
    } finally {
      // Together with the last look at `again`, so that no wake falls between the two.
      claiming = false;
      for (const resolve of whenIdle.splice(0)) resolve();
    }
    if (emptied && !closed) tools.onDry();
  };

  const wake = () => {
    again = true;
    // Started within the caller's tick: a finish just handed to the store shares its transaction.
    if (!claiming) void claimAll();
  };

  return {
    wake,
    beat: () => {
      if (dueAt !== null && tools.clock.now() >= dueAt) wake();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      if (claiming) await new Promise<void>((resolve) => whenIdle.push(resolve));
    },
  };
}
