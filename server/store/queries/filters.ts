/**
 * State filters, resolved to phases that exclude each other. Pure.
 *
 * Filters overlap (`retrying` ⊂ `scheduled` ⊂ `queued`) and have aliases; leaves do not, so a
 * list can be merged of one scan per leaf without a job in two of them.
 */
import type { StateFilter } from '../../../shared/job.ts';

/** A phase that no other contains: `scheduled` here means delayed, but not by a backoff. */
const LEAVES = ['blocked', 'scheduled', 'retrying', 'ready', 'running', 'done', 'dead', 'canceled'] as const;
export type Leaf = (typeof LEAVES)[number];

const MEANING: Readonly<Record<StateFilter, readonly Leaf[]>> = {
  blocked: ['blocked'],
  queued: ['scheduled', 'retrying', 'ready'],
  running: ['running'],
  done: ['done'],
  dead: ['dead'],
  canceled: ['canceled'],
  scheduled: ['scheduled', 'retrying'],
  retrying: ['retrying'],
  ready: ['ready'],
  active: ['running'],
  succeeded: ['done'],
  cancelled: ['canceled'],
  failed: ['retrying', 'dead'],
};

/** The leaves that any of the filters names; null for no filter (absent, empty, or all of them). */
export function leavesOf(states: readonly StateFilter[] | null | undefined): ReadonlySet<Leaf> | null {
  if (states === null || states === undefined || states.length === 0) return null;
  const leaves = new Set(states.flatMap((state) => MEANING[state]));
  return leaves.size === LEAVES.length ? null : leaves;
}

/** What of a job the residual filters look at. */
export interface Filtered {
  id: number;
  lane: string;
  key: string | null;
  label: string | null;
  argv: string;
  tags: string;
}

export interface Filters {
  tags?: Record<string, string> | null;
  text?: string | null;
  lane?: string | null;
  key?: string | null;
}

/** Every tag matches, and the text is part of id, label or command, whatever its case. */
export function matches(job: Filtered, filters: Filters): boolean {
  if (filters.lane && job.lane !== filters.lane) return false;
  if (filters.key && job.key !== filters.key) return false;
  return hasTags(job.tags, filters.tags) && hasText(job, filters.text);
}

function hasTags(json: string, wanted: Record<string, string> | null | undefined): boolean {
  const entries = Object.entries(wanted ?? {});
  if (entries.length === 0) return true;
  if (json === '{}') return false;
  const tags = JSON.parse(json) as Record<string, string>;
  return entries.every(([name, value]) => Object.hasOwn(tags, name) && tags[name] === value);
}

function hasText(job: Filtered, text: string | null | undefined): boolean {
  if (!text) return true;
  const wanted = text.toLowerCase();
  if (String(job.id).includes(wanted) || job.label?.toLowerCase().includes(wanted)) return true;
  return (JSON.parse(job.argv) as string[]).join(' ').toLowerCase().includes(wanted);
}

/** True when a page needs to look at jobs one by one, beyond what its index tells. */
export function isResidual(filters: Pick<Filters, 'tags' | 'text'>): boolean {
  return Boolean(filters.text) || Object.keys(filters.tags ?? {}).length > 0;
}
