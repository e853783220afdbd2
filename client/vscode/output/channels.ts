/**
 * One output channel per opened attempt, at most ten: the one not looked at for longest makes
 * room. A channel stays when its attempt ends, and is the same one when asked for again.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import type { Laneway } from '../context.ts';
import { currentAttempt, type AttemptTarget } from './attempt.ts';
import { LogReader } from './reader.ts';
import { TextLog } from './textLog.ts';
import { endLine, logTitle } from './words.ts';

/** More channels than this make the panel's list useless. */
const MOST_CHANNELS = 10;

interface OpenChannel {
  name: string;
  queue: AttemptTarget['queue'];
  jobId: number;
  attempt: number;
  channel: vscode.OutputChannel;
  dispose(): void;
}

export interface ShowOptions {
  /** Put the attempt in the place of an earlier attempt's channel of the same job. */
  reuse?: boolean;
}

export class LogChannels implements vscode.Disposable {
  readonly #laneway: Laneway;
  /** Bytes of history. */
  readonly #tailBytes: () => number;
  /** Oldest use first. */
  #open: OpenChannel[] = [];

  constructor(laneway: Laneway, tailBytes: () => number) {
    this.#laneway = laneway;
    this.#tailBytes = tailBytes;
  }

  /** Names of the open channels, the one shown last at the end. */
  get names(): string[] {
    return this.#open.map((each) => each.name);
  }

  /** Shows the attempt's channel, making it when it is not open. @returns its name. */
  show(target: AttemptTarget, { reuse = false }: ShowOptions = {}): string {
    const same = (each: OpenChannel): boolean => each.queue === target.queue && each.jobId === target.job.id;
    let found = this.#open.find((each) => same(each) && each.attempt === target.attempt.number);
    if (found === undefined) {
      if (reuse) this.#close(this.#open.filter(same));
      this.#close(this.#open.slice(0, Math.max(0, this.#open.length - MOST_CHANNELS + 1)));
      found = this.#make(target);
    }
    const shown = found;
    this.#open = [...this.#open.filter((each) => each !== shown), shown];
    // The focus stays where it is.
    shown.channel.show(true);
    return shown.name;
  }

  dispose(): void {
    this.#close(this.#open);
  }

  #close(channels: OpenChannel[]): void {
    for (const each of channels) each.dispose();
    this.#open = this.#open.filter((each) => !channels.includes(each));
  }

  #make(target: AttemptTarget): OpenChannel {
    const name = logTitle(target.job, target.attempt.number);
    const channel = vscode.window.createOutputChannel(name);
    const tailBytes = this.#tailBytes();
    const log = new TextLog(channel, {
      keep: tailBytes,
      ending: async () => endLine(await currentAttempt(target)),
      trouble: (error) => this.#laneway.log.warn(`${name}: ${toErrorData(error).message}`),
    });
    const reader = new LogReader(target.queue, log, {
      job: target.job.id,
      attempt: target.attempt.number,
      tailBytes,
    });
    void reader.start();
    return {
      name,
      queue: target.queue,
      jobId: target.job.id,
      attempt: target.attempt.number,
      channel,
      dispose: () => {
        reader.dispose();
        log.dispose();
        channel.dispose();
      },
    };
  }
}
