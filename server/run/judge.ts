/** Is a worker gone? Pure; see queue.md's reap. */
import type { HostIdentity, Registration } from '../store/api.ts';
import type { ProcessInfo } from './processes.ts';

/**
 * `elsewhere`: of another host or pid namespace, not ours to judge.
 * `other_boot`: gone, and its processes with it. `gone`: its process is. `hung`: it lives and does not beat.
 */
export type Verdict = 'elsewhere' | 'other_boot' | 'gone' | 'hung' | 'alive';

/**
 * @param holder who has the worker's pid now
 * @param stillBeats how many of our own beats passed without one of the worker's
 * @param leaseBeats how many of our beats make a lease
 */
export function judge(
  worker: HostIdentity & Pick<Registration, 'startTime'>,
  here: HostIdentity,
  holder: ProcessInfo | null,
  stillBeats: number,
  leaseBeats: number,
): Verdict {
  const place = whereabouts(worker, here);
  if (place !== 'here') return place;
  if (holder === null || holder.zombie) return 'gone';
  if (worker.startTime !== null && holder.startTime !== worker.startTime) return 'gone';
  return stillBeats >= leaseBeats ? 'hung' : 'alive';
}

/** Namespaces are numbered anew at each boot, so they are compared within one boot only. */
export function whereabouts(there: HostIdentity, here: HostIdentity): 'elsewhere' | 'other_boot' | 'here' {
  if (there.host !== here.host) return 'elsewhere';
  if (there.bootId !== here.bootId) return 'other_boot';
  return there.pidNamespace === here.pidNamespace ? 'here' : 'elsewhere';
}

/** Counts, per worker, our beats since its last one. Workers no longer seen are forgotten. */
export function countStill(
  before: ReadonlyMap<string, Pulse>,
  seen: readonly Pick<Registration, 'id' | 'heartbeats'>[],
): Map<string, Pulse> {
  const after = new Map<string, Pulse>();
  for (const { id, heartbeats } of seen) {
    const known = before.get(id);
    after.set(id, { heartbeats, still: known?.heartbeats === heartbeats ? known.still + 1 : 0 });
  }
  return after;
}

export interface Pulse {
  heartbeats: number;
  still: number;
}
