/** What the status bar and the badge say of all queues of a window. Pure. */
import { sayCount } from '../../../shared/format.ts';
import type { Counts } from '../../../shared/job.ts';

/** The counts of one queue, and how many of its dead the person has seen. */
export interface Seen {
  counts: Counts;
  seenDead: number;
}

export interface Glance {
  /** Status bar text with icons; null when there is nothing to say. */
  text: string | null;
  tooltip: string;
  /** A death nobody has looked at yet. */
  alarming: boolean;
  badge: { value: number; tooltip: string } | null;
  running: number;
}

/** Running + newly dead on the badge; running and waiting in the status bar. */
export function glance(queues: readonly Seen[]): Glance {
  let running = 0;
  let waiting = 0;
  let fresh = 0;
  for (const { counts, seenDead } of queues) {
    running += counts.running;
    waiting += counts.queued + counts.blocked;
    fresh += Math.max(0, counts.dead - seenDead);
  }
  const parts: string[] = [];
  if (running > 0) parts.push(`$(sync~spin) ${running}`);
  if (fresh > 0) parts.push(`$(error) ${fresh}`);
  if (waiting > 0) parts.push(`${running + fresh > 0 ? '' : '$(list-ordered) '}${waiting} waiting`);
  const words = [sayCount(running, 'job') + ' running', `${waiting} waiting`];
  if (fresh > 0) words.push(`${fresh} failed since you looked`);
  const tooltip = `Laneway: ${words.join(', ')}`;
  return {
    text: queues.length === 0 ? null : parts.length > 0 ? parts.join(' · ') : '$(list-ordered)',
    tooltip,
    alarming: fresh > 0,
    badge: running + fresh > 0 ? { value: running + fresh, tooltip } : null,
    running,
  };
}

/** The dead that count as seen after new counts: a retried job must not make room for an unseen one. */
export function stillSeen(seenDead: number, counts: Counts): number {
  return Math.min(seenDead, counts.dead);
}
