/**
 * The jobs a window knows, and the lists its views show of them: pure, so that a thousand
 * changed jobs are a loop over maps. A list is a query (states, lane, text), the ids loaded so
 * far in the query's order, and a cursor for the next page. When jobs change, each list takes
 * in, moves or drops just those ids; a list that did not change is not mentioned in the answer.
 */
import type { Job, StateFilter } from '../../shared/job.ts';
import type { JobEvent } from '../../shared/event.ts';

/** Jobs of one page in a tree. */
export const PAGE = 50;

/** What a list shows. `claim` orders waiting jobs as they will start; `newest` by descending id. */
export interface ListQuery {
  states: StateFilter[];
  lane: string | null;
  /** Case-insensitive part of label, command or id; empty for all. */
  text: string;
  order: 'newest' | 'claim';
}

export interface JobList {
  readonly key: string;
  readonly query: ListQuery;
  /** Loaded ids, in order. */
  ids: number[];
  /** Of the next page; null when all was loaded. */
  nextCursor: string | null;
  /** It grew far past what was asked for, and its end was cut off: the next page begins anew. */
  cut: boolean;
  /** Jobs it had when its last page came. */
  size: number;
  loaded: boolean;
}

/** Whether the server knows more of a list than is loaded. */
export function hasMore(list: JobList): boolean {
  return list.cut || list.nextCursor !== null;
}

/** What a change touched. */
export interface Changes {
  /** Jobs whose row is another one. */
  jobs: Set<number>;
  /** Keys of lists whose ids are others. */
  lists: Set<string>;
}

/** The identity of a query: equal queries share one list. */
export function listKey(query: ListQuery): string {
  return `${query.order}|${query.states.join(',')}|${query.lane ?? '*'}|${query.text.toLowerCase()}`;
}

/** Whether a state filter's word fits a job, as the server understands it. */
function fitsState(job: Job, filter: StateFilter): boolean {
  switch (filter) {
    case 'scheduled':
      return job.phase === 'scheduled' || job.phase === 'retrying';
    case 'retrying':
    case 'ready':
      return job.phase === filter;
    case 'active':
      return job.state === 'running';
    case 'succeeded':
      return job.state === 'done';
    case 'cancelled':
      return job.state === 'canceled';
    case 'failed':
      return job.phase === 'retrying' || job.state === 'dead';
    default:
      return job.state === filter;
  }
}

/** Whether a job belongs to a query. */
export function fitsQuery(job: Job, query: ListQuery): boolean {
  if (query.lane !== null && job.lane !== query.lane) return false;
  if (!query.states.some((state) => fitsState(job, state))) return false;
  return query.text === '' || searchText(job).includes(query.text.toLowerCase());
}

function searchText(job: Job): string {
  return `${job.label ?? ''}\n${job.argv.join(' ')}\n${job.id}`.toLowerCase();
}

/** The order of a list: negative when `a` stands before `b`. */
function compareJobs(order: ListQuery['order']): (a: Job, b: Job) => number {
  if (order === 'newest') return (a, b) => b.id - a.id;
  return (a, b) => {
    // What is due starts by priority; what is not yet due, by when it will be.
    const delayed = Number(isDelayed(a)) - Number(isDelayed(b));
    if (delayed !== 0) return delayed;
    const due = compareText(a.nextRunAt ?? '', b.nextRunAt ?? '');
    if (isDelayed(a) && due !== 0) return due;
    return b.priority - a.priority || due || a.id - b.id;
  };
}

function isDelayed(job: Job): boolean {
  return job.phase === 'scheduled' || job.phase === 'retrying';
}

/** ISO times of one form order as plain text; the locale's order would cost a hundred times more. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** All jobs and lists of one queue. Mutable, but without effects. */
export class JobLists {
  readonly jobs = new Map<number, Job>();
  readonly lists = new Map<string, JobList>();

  /** The list of a query, made empty and unloaded on first use. */
  list(query: ListQuery): JobList {
    const key = listKey(query);
    let list = this.lists.get(key);
    if (!list) {
      list = { key, query, ids: [], nextCursor: null, cut: false, size: 0, loaded: false };
      this.lists.set(key, list);
    }
    return list;
  }

  /** A page arrived. `fresh` replaces what was loaded. */
  addPage(list: JobList, page: { jobs: Job[]; nextCursor: string | null }, fresh: boolean): void {
    for (const job of page.jobs) this.jobs.set(job.id, job);
    const ids = page.jobs.map((job) => job.id);
    list.ids = fresh ? ids : [...new Set([...list.ids, ...ids])];
    list.nextCursor = page.nextCursor;
    list.cut = false;
    list.size = list.ids.length;
    list.loaded = true;
  }

  /** Rows as they are now; `asked` ids that came back without a row are gone. */
  update(rows: Job[], asked: Iterable<number> = []): Changes {
    const changes: Changes = { jobs: new Set(), lists: new Set() };
    const missing = new Set(asked);
    for (const job of rows) {
      missing.delete(job.id);
      this.jobs.set(job.id, job);
      changes.jobs.add(job.id);
    }
    for (const id of missing) if (this.jobs.delete(id)) changes.jobs.add(id);
    for (const list of this.lists.values()) if (this.#refit(list, rows, missing)) changes.lists.add(list.key);
    return changes;
  }

  /**
   * Waiting jobs that lists show, a page of each, in these lanes or in all (null): their reason to wait changes with
   * their neighbours.
   */
  *waiting(lanes: ReadonlySet<string> | null): Iterable<number> {
    for (const { query, ids } of this.lists.values()) {
      if (query.order !== 'claim' && !query.states.includes('blocked')) continue;
      if (lanes && query.lane !== null && !lanes.has(query.lane)) continue;
      for (const id of ids.slice(0, PAGE)) if (!lanes || lanes.has(this.jobs.get(id)?.lane ?? '')) yield id;
    }
  }

  /** Of these lists those of which most has left while more would follow. */
  drained(keys: Iterable<string>): JobList[] {
    return [...keys].flatMap((key) => {
      const list = this.lists.get(key);
      return list && hasMore(list) && list.ids.length < Math.min(list.size, PAGE) / 2 ? [list] : [];
    });
  }

  /** Everything unlearned, e.g. because the database is another one. */
  clear(): void {
    this.jobs.clear();
    this.lists.clear();
  }

  /** Drop the rows that no list shows, so that a long-lived window does not grow. */
  sweep(keep: ReadonlySet<number>): void {
    const shown = new Set(keep);
    for (const list of this.lists.values()) for (const id of list.ids) shown.add(id);
    for (const id of this.jobs.keys()) if (!shown.has(id)) this.jobs.delete(id);
  }

  #refit(list: JobList, rows: Job[], gone: Set<number>): boolean {
    if (!list.loaded) return false;
    const before = list.ids;
    const touched = new Set<number>(gone);
    const arriving: Job[] = [];
    for (const job of rows) {
      touched.add(job.id);
      if (fitsQuery(job, list.query)) arriving.push(job);
    }
    const staying = before.some((id) => touched.has(id)) ? before.filter((id) => !touched.has(id)) : before;
    if (arriving.length === 0) {
      list.ids = staying;
      return staying.length !== before.length;
    }
    const compare = compareJobs(list.query.order);
    const last = this.jobs.get(before.at(-1) ?? -1);
    // Beyond the loaded part nothing may be inserted: the next page brings it.
    const within = !hasMore(list) || !last ? arriving : arriving.filter((job) => compare(job, last) <= 0);
    const merged = [...staying.flatMap((id) => this.jobs.get(id) ?? []), ...within].sort(compare);
    list.ids = merged.map((job) => job.id);
    // A list that stays open for long must not grow with all that happens.
    const most = Math.max(list.size, PAGE);
    if (list.ids.length > most + PAGE) {
      list.ids.length = most;
      list.cut = true;
    }
    return list.ids.length !== before.length || list.ids.some((id, index) => id !== before[index]);
  }
}

/** What a page of events asks a client to look at again. */
export interface Stale {
  jobs: Set<number>;
  /** Lanes named by `lane_changed`; null when one did not say which. */
  lanes: Set<string> | null;
  /** Whether slots were taken or freed, so that others wait for other reasons. */
  slots: boolean;
}

/** Reduce events to the jobs and lanes that must be read again. */
export function staleAfter(events: readonly JobEvent[]): Stale {
  const stale: Stale = { jobs: new Set(), lanes: new Set(), slots: false };
  for (const event of events) {
    if (event.jobId === null) {
      const lane = event.detail['lane'] ?? event.detail['name'];
      if (typeof lane === 'string') stale.lanes?.add(lane);
      else stale.lanes = null;
      continue;
    }
    stale.jobs.add(event.jobId);
    if (event.type !== 'added' && event.type !== 'checkpointed' && event.type !== 'pruned') stale.slots = true;
  }
  return stale;
}

/** When the next loaded job becomes due, in milliseconds since the epoch; null when none will. */
export function nextDue(jobs: Iterable<Job>, now: number): number | null {
  let earliest: number | null = null;
  for (const job of jobs) {
    if (job.state !== 'queued' || job.nextRunAt === null || (job.phase !== 'scheduled' && job.phase !== 'retrying')) {
      continue;
    }
    const due = Math.max(now, Date.parse(job.nextRunAt));
    if (earliest === null || due < earliest) earliest = due;
  }
  return earliest;
}
