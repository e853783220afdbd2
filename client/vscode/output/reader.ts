/**
 * Reads one attempt's log from a server: a bounded tail first, then whatever is added, until the
 * attempt has ended and everything was read. The server only hints that the log grew; the
 * reader pulls from its own offset, so a lost hint, a slow view and a new connection are one
 * path. At most one page is in memory, whatever the job writes.
 */
import { Buffer } from 'node:buffer';
import {
  Follow,
  FollowStop,
  LogGrew,
  type NotificationType,
  Output,
  type RequestType,
} from '../../../shared/protocol.ts';

/** What the reader needs of a queue. */
export interface LogSource {
  request<P, R>(type: RequestType<P, R>, params: P): Promise<R>;
  on<P>(type: NotificationType<P>, listener: (params: P) => void): { dispose(): unknown };
  /** Fires after every (re)connect. */
  onDidConnect(listener: () => void): { dispose(): unknown };
}

/** What is told of the log, in order. */
export interface LogSink {
  data(bytes: Uint8Array): void;
  /** So many bytes were passed over here. */
  omitted(bytes: number): void;
  /** The job truncated its log: what follows starts at 0 again. */
  restarted(): void;
  /** The attempt ended and all of its log was told. Called once, last. */
  ended(): void;
  /** The log could not be read on; a later connection takes it up again. */
  trouble(error: unknown): void;
}

export interface ReaderOptions {
  job: number;
  attempt: number;
  /** Bytes of history told at first, and the most a slow reader lags behind before it skips. */
  tailBytes: number;
  /** Bytes of one page. */
  pageBytes?: number;
}

const PAGE_BYTES = 262_144;

export class LogReader {
  readonly #source: LogSource;
  readonly #sink: LogSink;
  readonly #options: Required<ReaderOptions>;
  readonly #listeners: { dispose(): unknown }[];
  #offset = 0;
  #size = 0;
  #started = false;
  #done = false;
  #stopped = false;
  #pulling: Promise<void> | null = null;
  #again = false;

  constructor(source: LogSource, sink: LogSink, options: ReaderOptions) {
    this.#source = source;
    this.#sink = sink;
    this.#options = { pageBytes: PAGE_BYTES, ...options };
    this.#listeners = [
      source.on(LogGrew, (hint) => {
        if (hint.jobId === options.job && hint.attempt === options.attempt) this.#wake();
      }),
      source.onDidConnect(() => void this.start()),
    ];
  }

  /** Asks for hints and reads what is there. Also the way to go on after a lost connection. */
  async start(): Promise<void> {
    if (this.#stopped || this.#done) return;
    try {
      await this.#source.request(Follow, { job: this.#options.job, attempt: this.#options.attempt });
    } catch (error) {
      this.#sink.trouble(error);
      return;
    }
    this.#wake();
    await this.#pulling;
  }

  /** Stops for good. Safe to call twice. */
  dispose(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const listener of this.#listeners) listener.dispose();
    if (!this.#started || this.#done) return;
    const { job: jobId, attempt } = this.#options;
    // Best effort: a lost connection has forgotten the wish already.
    this.#source.request(FollowStop, { jobId, attempt }).catch(() => undefined);
  }

  #wake(): void {
    if (this.#pulling !== null) {
      this.#again = true;
      return;
    }
    this.#pulling = Promise.resolve()
      .then(() => this.#pull())
      .finally(() => {
        this.#pulling = null;
        if (!this.#again) return;
        this.#again = false;
        this.#wake();
      });
  }

  async #pull(): Promise<void> {
    try {
      while (!this.#stopped && !this.#done && (await this.#page())) {
        // Everything happens in the condition.
      }
    } catch (error) {
      if (!this.#stopped) this.#sink.trouble(error);
    }
  }

  /** Reads one page. @returns whether there may be more right now. */
  async #page(): Promise<boolean> {
    const { job, attempt, tailBytes, pageBytes } = this.#options;
    const first = !this.#started;
    const page = await this.#source.request(Output, {
      job,
      attempt,
      stream: 'both',
      limit: pageBytes,
      ...(first ? { tail: tailBytes } : { offset: this.#offset }),
    });
    if (this.#stopped) return false;
    this.#size = page.size;
    if (first) {
      this.#started = true;
      this.#offset = page.offset;
      if (page.offset > 0) this.#sink.omitted(page.offset);
    } else if (page.size < this.#offset) {
      this.#sink.restarted();
      this.#offset = 0;
      return true;
    }
    if (page.bytes > 0) this.#sink.data(Buffer.from(page.base64, 'base64'));
    this.#offset = page.offset + page.bytes;
    if (page.complete) {
      this.#done = true;
      this.#sink.ended();
      return false;
    }
    const behind = this.#size - this.#offset;
    if (behind > tailBytes && page.bytes > 0 && !first) {
      // The job writes faster than a person reads: go on from its newest output.
      this.#sink.omitted(behind - tailBytes);
      this.#offset = this.#size - tailBytes;
    }
    return page.bytes > 0 && behind > 0;
  }
}
