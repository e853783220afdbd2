/**
 * Keeping the server small. To start a process is to copy the tables of all memory the starter holds,
 * and to fault once on every page it touches after that: measured, each MiB costs every job 0.05 ms
 * of processor time, which is as much as the whole start for every 25 MiB. V8 left to itself trades
 * memory for speed the other way round: it lets the space for young objects grow to 48 MiB, and
 * keeps what a large batch needed once.
 */
import v8 from 'node:v8';
import vm from 'node:vm';

/** Milliseconds without any work before memory is given back; at most twice as many. */
const QUIET_MS = 1000;
/** Not for less: a full collection stands still for some 20 ms. */
const WORTH_BYTES = 6 * 1024 * 1024;

/** The space for young objects keeps the size it starts with. Before anything large is allocated. */
export function stayYoung(): void {
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}

export interface Tidy {
  /** There was work. Cheap: called with every commit and message. */
  touch(): void;
  stop(): void;
}

/** Gives unused memory back to the system whenever work has paused; costs nothing while there is none. */
export function tidyWhenQuiet({ collect = collectAll, held = heapBytes } = {}): Tidy {
  let kept = held();
  let touched = false;
  let timer: NodeJS.Timeout | null = null;
  const watch = (): void => {
    timer = setTimeout(look, QUIET_MS);
    timer.unref();
  };
  const look = (): void => {
    timer = null;
    if (touched) {
      touched = false;
      watch();
    } else if (held() - kept >= WORTH_BYTES) {
      collect();
      kept = held();
    }
  };
  // The start itself is work.
  watch();
  return {
    touch: () => {
      if (timer === null) watch();
      else touched = true;
    },
    stop: () => clearTimeout(timer ?? undefined),
  };
}

/** What V8 holds of the system's memory, used or not. */
function heapBytes(): number {
  return v8.getHeapStatistics().total_physical_size;
}

/** The collection that V8 keeps for when memory has run out: the only one that gives back what it can. */
function collectAll(): void {
  v8.setFlagsFromString('--expose-gc');
  const gc: unknown = vm.runInNewContext('gc');
  v8.setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
