/**
 * What a window knows of one queue. Hints say that the ledger moved and carry the counts; while
 * somebody looks, the cache then pulls the events after its cursor, reads the jobs they name
 * again, and tells exactly which jobs, lists and lanes are others now. While nobody looks it
 * asks for nothing. First load, reconnect and a long pause are the same path: lists that are
 * too far behind are simply loaded anew.
 */
import { toErrorData } from '../../shared/errors.ts';
import type { Attempt, Checkpoint, Counts, Job, Lane } from '../../shared/job.ts';
import {
  Events,
  type EventsHint,
  Lanes,
  List,
  type NotificationType,
  type RequestType,
  Show,
} from '../../shared/protocol.ts';
import { MAX_LIST, MAX_TIMER_MS } from '../../shared/limits.ts';
import { hasMore, JobLists, type JobList, type ListQuery, nextDue, PAGE, staleAfter } from './jobLists.ts';
import { PullPace, Spaced } from './pace.ts';

type HintOf<T> = T extends NotificationType<infer P> ? P : never;
export type Hint = HintOf<typeof EventsHint>;
type Ask = <P, R>(type: RequestType<P, R>, params: P) => Promise<R>;

/** What changed since the last word; `all` means: look at everything again. */
export interface CacheChange {
  all: boolean;
  jobs: ReadonlySet<number>;
  lists: ReadonlySet<string>;
  /** The lanes' rows or their set changed. */
  lanes: boolean;
}

/** One job's attempts and finished stages, as read when it was unfolded. */
export interface JobDetail {
  attempts: Attempt[];
  checkpoints: Checkpoint[];
}

/** A job that becomes due is looked at so many milliseconds later. */
const DUE_MS = 100;
/** Badge and status bar hear of hints at least this far apart, in milliseconds. */
const HINT_GAP_MS = 250;
/** Further behind than this many events, loading the lists anew is cheaper than reading them. */
const FAR_BEHIND = 5000;
/** Unlisted rows kept before they are swept. */
const SWEEP_AT = 20_000;

export class JobCache {
  readonly #ask: Ask;
  readonly #onTrouble: (error: unknown) => void;
  readonly #lists = new JobLists();
  readonly #details = new Map<number, JobDetail>();
  readonly #listeners = new Set<(change: CacheChange) => void>();
  readonly #hintListeners = new Set<(hint: Hint) => void>();
  readonly #watchers = new Set<object>();
  #lanes: Lane[] = [];
  #lanesLoaded = false;
  #hint: Hint | null = null;
  #cursor = 0;
  #pulling = false;
  /** The last pull failed: the next hint or connection tries again, not a loop. */
  #troubled = false;
  #timer: NodeJS.Timeout | null = null;
  readonly #pace = new PullPace();
  readonly #hints = new Spaced(HINT_GAP_MS, () => this.#tellHint());
  #dueTimer: NodeJS.Timeout | null = null;
  #disposed = false;

  constructor(ask: Ask, onTrouble: (error: unknown) => void) {
    this.#ask = ask;
    this.#onTrouble = onTrouble;
  }

  /** Newest event id that the loaded rows reflect. */
  get cursor(): number {
    return this.#cursor;
  }
  /** The last hint; null before the first connection. */
  get hint(): Hint | null {
    return this.#hint;
  }
  get counts(): Counts | null {
    return this.#hint?.counts ?? null;
  }
  get lanes(): readonly Lane[] {
    return this.#lanes;
  }
  get lanesLoaded(): boolean {
    return this.#lanesLoaded;
  }
  /** Whether anybody looks; otherwise nothing is asked. */
  get watched(): boolean {
    return this.#watchers.size > 0;
  }

  onDidChange(listener: (change: CacheChange) => void): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  }
  /** Hints, looked at or not: for the badge and the status bar. Of many in a moment the first and the last. */
  onDidHint(listener: (hint: Hint) => void): { dispose(): void } {
    this.#hintListeners.add(listener);
    return { dispose: () => void this.#hintListeners.delete(listener) };
  }

  /** While `who` looks, the cache follows the ledger. */
  watch(who: object, looking: boolean): void {
    if (looking) this.#watchers.add(who);
    else this.#watchers.delete(who);
    if (looking) this.#schedule(0);
    else if (!this.watched) this.#clearTimers();
  }

  /** A new session began at this cursor. `fresh` when the database is another one: nothing known holds. */
  connected(hint: Hint, fresh: boolean): void {
    this.#hint = hint;
    if (fresh) this.refresh();
    this.takeHint(hint);
  }

  /** The ledger moved. Asks for nothing unless somebody looks. */
  takeHint(hint: Hint): void {
    this.#hint = hint;
    this.#hints.call();
    if (this.watched && hint.cursor > this.#cursor) this.#schedule(this.#pace.gap);
  }

  job(id: number): Job | undefined {
    return this.#lists.jobs.get(id);
  }
  detail(id: number): JobDetail | undefined {
    return this.#details.get(id);
  }
  /** The list of a query with what is loaded of it; {@link load} fills it. */
  list(query: ListQuery): JobList {
    return this.#lists.list(query);
  }
  rows(list: JobList): Job[] {
    return list.ids.flatMap((id) => this.#lists.jobs.get(id) ?? []);
  }

  /** The first page, unless loaded. */
  async load(query: ListQuery): Promise<JobList> {
    const list = this.#lists.list(query);
    if (!list.loaded) await this.#page(list, null, PAGE);
    return list;
  }
  /** One more page; ten times the size once a person keeps asking. */
  async more(query: ListQuery): Promise<void> {
    const list = this.#lists.list(query);
    if (!hasMore(list)) return;
    const step = list.ids.length >= 4 * PAGE ? 10 * PAGE : PAGE;
    if (list.cut) await this.#page(list, null, Math.min(list.ids.length + step, MAX_LIST));
    else await this.#page(list, list.nextCursor, step);
    this.#tell({ all: false, jobs: new Set(), lists: new Set([list.key]), lanes: false });
  }
  async loadLanes(): Promise<readonly Lane[]> {
    if (!this.#lanesLoaded) await this.#readLanes();
    return this.#lanes;
  }
  /** Attempts and stages of one job, read on first use and kept current while somebody looks. */
  async loadDetail(id: number): Promise<JobDetail> {
    const known = this.#details.get(id);
    if (known) return known;
    const { job, attempts, checkpoints } = await this.#ask(Show, { job: id });
    this.#lists.update([job]);
    const detail = { attempts, checkpoints };
    this.#details.set(id, detail);
    return detail;
  }
  /** Forget what lists hold and read it again: for the refresh button and after a filter changed. */
  refresh(): void {
    this.#forget();
    this.#tell({ all: true, jobs: new Set(), lists: new Set(), lanes: true });
  }
  dispose(): void {
    this.#disposed = true;
    this.#clearTimers();
    this.#hints.dispose();
    this.#listeners.clear();
    this.#hintListeners.clear();
    this.#watchers.clear();
  }

  #forget(): void {
    this.#lists.clear();
    this.#details.clear();
    this.#lanes = [];
    this.#lanesLoaded = false;
    this.#cursor = this.#hint?.cursor ?? 0;
  }

  async #page(list: JobList, cursor: string | null, limit: number): Promise<void> {
    const { states, lane, text, order } = list.query;
    // What is read now reflects at least the cursor of now; later events are pulled after it.
    if (this.#cursor === 0) this.#cursor = this.#hint?.cursor ?? 0;
    const page = await this.#ask(List, { states, lane, text: text || null, order, limit, cursor });
    this.#lists.addPage(list, page, cursor === null);
    this.#armDue();
  }

  async #readLanes(): Promise<boolean> {
    const { lanes } = await this.#ask(Lanes, null);
    const changed = JSON.stringify(lanes) !== JSON.stringify(this.#lanes);
    this.#lanes = lanes;
    this.#lanesLoaded = true;
    return changed;
  }

  #schedule(delay: number): void {
    if (this.#timer || this.#disposed) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#pulling) return;
      this.#pulling = true;
      this.#pace.began(performance.now());
      void this.#pull().finally(() => {
        this.#pulling = false;
        if (this.#hint && this.#hint.cursor > this.#cursor && this.watched && !this.#troubled)
          this.#schedule(this.#pace.gap);
      });
    }, delay);
  }

  #tellHint(): void {
    if (this.#hint) for (const listener of this.#hintListeners) listener(this.#hint);
  }

  async #pull(): Promise<void> {
    if (!this.watched || this.#disposed || !this.#hint) return;
    this.#troubled = false;
    try {
      const behind = this.#hint.cursor - this.#cursor;
      if (behind <= 0) return;
      if (behind > FAR_BEHIND) this.refresh();
      else if (this.#lists.lists.size === 0 && this.#details.size === 0) await this.#lanesOnly(this.#hint.cursor);
      else await this.#takeEvents();
    } catch (error) {
      this.#troubled = true;
      this.#onTrouble(error);
    }
  }

  /** Nothing is unfolded: which jobs moved matters to nobody. */
  async #lanesOnly(cursor: number): Promise<void> {
    const lanes = this.#lanesLoaded ? await this.#readLanes() : false;
    this.#cursor = Math.max(this.#cursor, cursor);
    this.#tell({ all: false, jobs: new Set(), lists: new Set(), lanes });
  }

  async #takeEvents(): Promise<void> {
    const { events, cursor } = await this.#ask(Events, { since: this.#cursor, limit: MAX_LIST });
    const stale = staleAfter(events);
    const ids = new Set(stale.jobs);
    if (stale.slots || stale.lanes?.size !== 0) {
      for (const id of this.#lists.waiting(stale.slots ? null : stale.lanes)) ids.add(id);
    }
    const lanes = this.#lanesLoaded && events.length > 0 ? await this.#readLanes() : false;
    const change = await this.#reread(ids);
    this.#cursor = Math.max(this.#cursor, cursor);
    this.#tell({ all: false, ...change, lanes });
  }

  async #reread(ids: Set<number>): Promise<{ jobs: Set<number>; lists: Set<string> }> {
    const jobs = new Set<number>();
    const lists = new Set<string>();
    const asked = [...ids];
    for (let start = 0; start < asked.length; start += MAX_LIST) {
      const chunk = asked.slice(start, start + MAX_LIST);
      const { jobs: rows } = await this.#ask(List, { ids: chunk, limit: chunk.length });
      const change = this.#lists.update(rows, chunk);
      for (const id of change.jobs) jobs.add(id);
      for (const key of change.lists) lists.add(key);
    }
    for (const list of this.#lists.drained(lists)) await this.#page(list, null, PAGE);
    for (const id of jobs) await this.#rereadDetail(id);
    if (this.#lists.jobs.size > SWEEP_AT) this.#lists.sweep(new Set(this.#details.keys()));
    this.#armDue();
    return { jobs, lists };
  }

  async #rereadDetail(id: number): Promise<void> {
    if (!this.#details.has(id)) return;
    if (!this.#lists.jobs.has(id)) {
      this.#details.delete(id);
      return;
    }
    try {
      const { attempts, checkpoints } = await this.#ask(Show, { job: id });
      this.#details.set(id, { attempts, checkpoints });
    } catch (error) {
      // Pruned between the two questions: its event is on the way.
      if (toErrorData(error).code !== 'NOT_FOUND') throw error;
      this.#details.delete(id);
    }
  }

  /** A delayed job becomes ready by the clock alone, without an event: look again then. */
  #armDue(): void {
    if (this.#dueTimer) clearTimeout(this.#dueTimer);
    this.#dueTimer = null;
    if (!this.watched || this.#disposed) return;
    const now = Date.now();
    const due = nextDue(this.#lists.jobs.values(), now);
    if (due === null) return;
    const wait = Math.min(Math.max(due - now, 0) + DUE_MS, MAX_TIMER_MS);
    this.#dueTimer = setTimeout(() => {
      this.#dueTimer = null;
      void this.#rereadDue();
    }, wait);
  }

  async #rereadDue(): Promise<void> {
    const now = new Date().toISOString();
    const due = [...this.#lists.jobs.values()].filter(
      (job) => (job.phase === 'scheduled' || job.phase === 'retrying') && (job.nextRunAt ?? now) <= now,
    );
    try {
      const change = await this.#reread(new Set(due.slice(0, MAX_LIST).map((job) => job.id)));
      this.#tell({ all: false, ...change, lanes: await this.#readLanes() });
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  #clearTimers(): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#dueTimer) clearTimeout(this.#dueTimer);
    this.#timer = null;
    this.#dueTimer = null;
  }

  #tell(change: CacheChange): void {
    if (!change.all && change.jobs.size === 0 && change.lists.size === 0 && !change.lanes) return;
    for (const listener of this.#listeners) listener(change);
  }
}
