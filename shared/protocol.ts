/**
 * The protocol between the server and its clients: JSON-RPC 2.0 in LSP framing over a local
 * socket. One namespace per message: method, direction, types, and a sentence of why.
 *
 * A session begins with LSP's `initialize`, whose `initializationOptions` carry {@link Hello}
 * and whose `capabilities.experimental.laneway` answers with {@link Welcome}. Compatibility is
 * decided there by the protocol number and by nothing else.
 *
 * Push a hint, pull the page: notifications never carry rows. A client that missed hints, was
 * slow, or just connected pulls from its cursor, and that is the only code path.
 */
import type { ErrorData } from './errors.ts';
import type { JobEvent, TimelineEntry } from './event.ts';
import type {
  AddRequest,
  Attempt,
  Caller,
  Check,
  Checkpoint,
  Counts,
  Job,
  JobState,
  Lane,
  LaneSettings,
  QueueSettings,
  Server,
  StateFilter,
  Status,
} from './job.ts';

/** Raised whenever a message changes so that an older peer would misread it. */
export const PROTOCOL = 1;

export interface Hello {
  protocol: number;
  /** The client's version, for messages only. */
  version: string;
  client: 'cli' | 'editor' | 'test';
}

export interface Welcome {
  protocol: number;
  version: string;
  /** Changes when the database was replaced: cursors of another instance mean nothing. */
  instance: string;
  server: Server;
  /** Newest event id at the moment of the answer. */
  cursor: number;
}

/**
 * `data` of the VERSION_MISMATCH error that answers `initialize` when the protocols differ. A
 * server that meets a newer client finishes at once (claims no more, ends when its running jobs
 * do, closes that client's socket only then), so the client waits for the close and starts its own.
 * A request sent together with such an `initialize` is never carried out.
 */
export interface Mismatch extends ErrorData {
  /** The server's. */
  protocol: number;
  version: string;
  /** Jobs the server still waits for. */
  running: number;
}

/** A request and its answer. The type parameters are phantom: they exist for the compiler. */
export interface RequestType<P, R> {
  readonly method: string;
  readonly _?: [P, R];
}
/** A message without an answer. */
export interface NotificationType<P> {
  readonly method: string;
  readonly _?: P;
}
export type Params<T> = T extends RequestType<infer P, unknown> ? P : T extends NotificationType<infer N> ? N : never;
export type Result<T> =
  T extends RequestType<never, infer R> ? R : T extends RequestType<infer _P, infer R> ? R : never;

const request = <P, R>(method: string): RequestType<P, R> => ({ method });
const notification = <P>(method: string): NotificationType<P> => ({ method });

/** Which jobs a verb means: ids, or a filter. Exactly one of `ids` and `all`. */
export interface Selection {
  ids?: JobRef[];
  all?: boolean;
  lane?: string | null;
  states?: StateFilter[] | null;
  /** Every given tag must match. */
  tags?: Record<string, string> | null;
}

/** An id, `last` (the newest job) or `label:NAME` (the newest job so labelled). */
export type JobRef = number | string;

/** The outcome for one of several ids; `state` is null when there is no such job. */
export interface JobResult {
  /** The reference as given when it named no job. */
  id: JobRef;
  state: JobState | null;
  error: ErrorData | null;
}

/** A dependent that came back with the job it needs: itself when it was dead, as a rerun when it was canceled. */
export interface Revived {
  id: number;
  /** Null when it is gone already. */
  state: JobState | null;
  rerunOf: number | null;
}

/** client → server: queue one job, or a batch in one transaction. All or none. */
export const Add = request<
  { jobs: AddRequest[]; caller: Caller },
  { jobs: Job[]; /** Ids among `jobs` that were live already under their key. */ deduplicated: number[] }
>('laneway/add');

/** client → server: one page of jobs, newest first. */
export const List = request<
  {
    states?: StateFilter[] | null;
    lane?: string | null;
    tags?: Record<string, string> | null;
    key?: string | null;
    limit?: number | null;
    /** `nextCursor` of the page before. */
    cursor?: string | null;
    /** Case-insensitive part of label, command or id; for pickers. */
    text?: string | null;
    /** Only these ids; for clients that refresh what events named. */
    ids?: number[] | null;
    /** `claim`: in the order in which waiting jobs will start. */
    order?: 'newest' | 'claim' | null;
  },
  { jobs: Job[]; nextCursor: string | null }
>('laneway/list');

/** client → server: everything about one job. `env` only when asked for. */
export const Show = request<
  { job: JobRef; env?: boolean },
  {
    job: Job;
    attempts: Attempt[];
    needs: Job[];
    neededBy: Job[];
    checkpoints: Checkpoint[];
    env: Record<string, string> | null;
  }
>('laneway/show');

/** client → server: the whole queue at a glance, and the bytes of all its logs. */
export const StatusRequest = request<null, Status & { logBytes: number }>('laneway/status');

export type Stream = 'both' | 'stdout' | 'stderr';

/** client → server: a page of an attempt's log by byte range, cut at a character's border. */
export const Output = request<
  {
    job: JobRef;
    /** Latest when absent. */
    attempt?: number | null;
    stream?: Stream | null;
    offset?: number | null;
    limit?: number | null;
    /** Start this many bytes before the end instead of at `offset`. */
    tail?: number | null;
    /** Exact bytes: never shift the page's ends to a character's border. */
    raw?: boolean | null;
  },
  OutputPage
>('laneway/output');

export interface OutputPage {
  jobId: number;
  attempt: number;
  stream: Stream;
  /** UTF-8 text with U+FFFD for what is none. */
  text: string;
  /** The same bytes exactly. */
  base64: string;
  /** Length of this page in bytes. */
  bytes: number;
  /** Where this page starts, in bytes. */
  offset: number;
  /** The attempt ended and the page reaches the end. */
  complete: boolean;
  /** Size of the log now; smaller than an earlier offset when the job truncated its log. */
  size: number;
}

/** client → server: send `log/grew` for this attempt until `follow/stop` or the session's end. */
export const Follow = request<
  { job: JobRef; attempt?: number | null; stream?: Stream | null },
  { jobId: number; attempt: number; size: number; ended: boolean }
>('laneway/follow');
export const FollowStop = request<{ jobId: number; attempt: number }, null>('laneway/follow/stop');

/** server → client: a followed log has other bytes than before; read on from your offset. */
export const LogGrew = notification<{
  jobId: number;
  attempt: number;
  /** Size in bytes. */
  size: number;
  /** The attempt has ended: what is there now is all. */
  ended: boolean;
}>('laneway/log/grew');

export const Cancel = request<{ selection: Selection }, { results: (JobResult & { wasRunning: boolean })[] }>(
  'laneway/cancel',
);
export const Retry = request<
  {
    selection: Selection;
    force?: boolean;
    /** Also bring back what this job's death had settled. */
    withDependents?: boolean;
  },
  { results: JobResult[]; /** With `withDependents`: what came back beside the selected jobs. */ revived: Revived[] }
>('laneway/retry');
export const Rerun = request<{ jobs: JobRef[] }, { jobs: Job[]; results: JobResult[] }>('laneway/rerun');
export const Bump = request<{ jobs: JobRef[]; priority?: number | null; now?: boolean }, { results: JobResult[] }>(
  'laneway/bump',
);

/** client → server: answer when the selected jobs (any or all of them) are terminal, or on time-out. */
export const Wait = request<
  { selection: Selection; any?: boolean; timeoutMs?: number | null },
  { jobs: Job[]; timedOut: boolean }
>('laneway/wait');

/** client → server: events after a cursor; with `waitMs`, wait that long for the first one. */
export const Events = request<
  { since?: number | null; job?: JobRef | null; limit?: number | null; waitMs?: number | null },
  { events: JobEvent[]; cursor: number }
>('laneway/events');

/** client → server: send `events/hint` from now on. */
export const Subscribe = request<null, { cursor: number; counts: Counts; scheduled: number; retrying: number }>(
  'laneway/events/subscribe',
);
export const Unsubscribe = request<null, null>('laneway/events/unsubscribe');

/**
 * server → client: the ledger has moved. Coalesced (at most one per 50 ms and session), and
 * carries the counts that a badge or status bar needs, so that hidden views ask for nothing.
 */
export const EventsHint = notification<{
  cursor: number;
  counts: Counts;
  scheduled: number;
  retrying: number;
  /** Trouble the person should know, e.g. the worker cannot start processes; else null. */
  trouble: string | null;
}>('laneway/events/hint');

export const Timeline = request<
  { job: JobRef; cursor?: string | null; limit?: number | null },
  { entries: TimelineEntry[]; nextCursor: string | null }
>('laneway/timeline');

/** client → server: attempts that overlap a span of time, for the picture of lanes over time. */
export const Spans = request<
  { from: number; to: number; limit?: number | null },
  { spans: Span[]; truncated: boolean }
>('laneway/spans');

/** One bar: the waiting before an attempt and the attempt itself. Milliseconds since the epoch. */
export interface Span {
  jobId: number;
  lane: string;
  title: string;
  attempt: number;
  state: Attempt['state'];
  /** Since when it waited for this attempt. */
  waitingSince: number;
  startedAt: number;
  finishedAt: number | null;
}

export const Lanes = request<null, { lanes: Lane[] }>('laneway/lanes');
export const LanesSet = request<{ name: string; settings: LaneSettings }, { lane: Lane }>('laneway/lanes/set');
export const LanesRemove = request<{ name: string }, { lane: Lane }>('laneway/lanes/remove');
export const Pause = request<{ lanes: string[] }, { lanes: Lane[] }>('laneway/pause');
export const Resume = request<{ lanes: string[] }, { lanes: Lane[] }>('laneway/resume');

export const Prune = request<
  { olderThanMs?: number | null; states?: StateFilter[] | null; dryRun: boolean },
  { deleted: number; bytesFreed: number }
>('laneway/prune');

export const Doctor = request<{ deep: boolean }, { ok: boolean; checks: Check[] }>('laneway/doctor');

export const SettingsGet = request<null, { settings: QueueSettings }>('laneway/settings');
export const SettingsSet = request<{ settings: Partial<QueueSettings> }, { settings: QueueSettings }>(
  'laneway/settings/set',
);

export const ServerStatus = request<null, Server>('laneway/server');
/**
 * client → server: end. Without `force` running jobs end first; with it their groups are stopped
 * with their grace, and the jobs are requeued.
 */
export const ServerStop = request<{ force: boolean }, { server: Server; running: number }>('laneway/server/stop');

/** client → server: another process changed the database; look now. */
export const Poke = notification<null>('laneway/poke');
/** server → client: this server finishes (hand-over, stop): dial again after the socket closes. */
export const Finishing = notification<{ reason: string; running: number }>('laneway/finishing');

/** Every message, for the page that documents them and the test that compares it with this file. */
export const MESSAGES = {
  Add,
  List,
  Show,
  StatusRequest,
  Output,
  Follow,
  FollowStop,
  LogGrew,
  Cancel,
  Retry,
  Rerun,
  Bump,
  Wait,
  Events,
  Subscribe,
  Unsubscribe,
  EventsHint,
  Timeline,
  Spans,
  Lanes,
  LanesSet,
  LanesRemove,
  Pause,
  Resume,
  Prune,
  Doctor,
  SettingsGet,
  SettingsSet,
  ServerStatus,
  ServerStop,
  Poke,
  Finishing,
} as const;
