/** Every number a user can run into, in one place, each with its unit and source. */

/** Major version of the oldest Node.js that the database's driver loads on; an older one it would crash. */
export const OLDEST_NODE = 22;

/** Elements of one argv. */
export const MAX_ARGV = 4096;
/** Bytes of one argument or one `NAME=value`, exclusive: Linux MAX_ARG_STRLEN is 32 pages. */
export const MAX_EXEC_STRING = 131_072;
/** Bytes of argv and environment together: a quarter of the usual 8 MiB stack is Linux's ARG_MAX. */
export const MAX_EXEC_TOTAL = 2_097_152;
/** Lane names. */
export const LANE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const DEFAULT_LANE = 'default';
/** Characters. */
export const MAX_KEY = 256;
export const MAX_LABEL = 200;
export const MAX_TAG_KEY = 64;
export const MAX_TAG_VALUE = 256;
export const MAX_TAGS = 64;
export const MIN_PRIORITY = -2_147_483_648;
export const MAX_PRIORITY = 2_147_483_647;
/** Milliseconds: the shortest and longest timeout or delay, 1 ms … 366 days. */
export const MIN_DURATION_MS = 1;
export const MAX_DURATION_MS = 366 * 86_400_000;
export const MAX_NEEDS = 100;
export const MAX_BATCH = 10_000;
export const MAX_RETRIES = 1_000_000;
export const MAX_SLOTS = 10_000;
/** Bytes of one checkpoint's stdout. */
export const MAX_CHECKPOINT = 1_048_576;
/** Characters of a checkpoint's or sleep's name. */
export const MAX_STAGE_NAME = 200;
/** Rows one transition may touch; larger ones go in resumable batches. */
export const MAX_TRANSITION_ROWS = 1000;

export const DEFAULT_SLOTS = 1;
export const DEFAULT_MAX_RETRIES = 0;
export const DEFAULT_MAX_CRASHES = 2;
export const DEFAULT_RETRY_DELAY_MS = 2000;
export const DEFAULT_RETRY_MAX_DELAY_MS = 60_000;
export const DEFAULT_CANCEL_GRACE_MS = 10_000;
/** Bytes of output after which an attempt is stopped: 1 GiB. */
export const DEFAULT_LOG_LIMIT = 1_073_741_824;
export const LOG_LIMIT_CHECK_MS = 250;
export const HEARTBEAT_MS = 5000;
export const LEASE_MS = 30_000;
export const DEFAULT_RETENTION_MS = 30 * 86_400_000;
/** Bytes of logs kept: 2 GiB. */
export const DEFAULT_RETENTION_BYTES = 2_147_483_648;
/** Milliseconds a client waits for a server it started. */
export const SERVER_START_MS = 5000;
export const DEFAULT_SERVER_IDLE_MS = 10 * 60_000;
/** Bytes of one `output` page unless asked otherwise, and at most. */
export const DEFAULT_PAGE_BYTES = 1_048_576;
export const MAX_PAGE_BYTES = 4_194_304;
/** Rows of one `list` page: default and most. */
export const DEFAULT_LIST = 50;
export const MAX_LIST = 1000;
export const DEFAULT_EVENTS = 1000;
export const MAX_EVENTS = 10_000;
/** A longer delay would overflow a Node timer and fire at once; it is clamped and re-armed. */
export const MAX_TIMER_MS = 2_147_483_647;
