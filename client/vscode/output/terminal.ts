/** A log as a terminal shows it: the same bytes, with their colours and redraws. */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { currentAttempt, type AttemptTarget } from './attempt.ts';
import { LogReader, type LogSink } from './reader.ts';
import { Utf8Decoder } from './utf8.ts';
import { endLine, logTitle, omittedLine, TRUNCATED_LINE } from './words.ts';

/** Opens a terminal that follows the attempt; closing it ends nothing but the view. */
export function openLogTerminal(target: AttemptTarget, tailBytes: number): vscode.Terminal {
  const name = logTitle(target.job, target.attempt.number);
  const pty = new LogTerminal(target, tailBytes);
  const terminal = vscode.window.createTerminal({ name, pty, iconPath: new vscode.ThemeIcon('output') });
  terminal.show(true);
  return terminal;
}

class LogTerminal implements vscode.Pseudoterminal, LogSink {
  readonly #written = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<number | void>();
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;
  readonly #target: AttemptTarget;
  readonly #tailBytes: number;
  readonly #decoder = new Utf8Decoder();
  #reader: LogReader | null = null;
  #returned = false;

  constructor(target: AttemptTarget, tailBytes: number) {
    this.#target = target;
    this.#tailBytes = tailBytes;
  }

  open(): void {
    const { queue, job, attempt } = this.#target;
    this.#reader = new LogReader(queue, this, { job: job.id, attempt: attempt.number, tailBytes: this.#tailBytes });
    void this.#reader.start();
  }

  close(): void {
    this.#reader?.dispose();
    this.#reader = null;
    this.#written.dispose();
    this.#closed.dispose();
  }

  data(bytes: Uint8Array): void {
    this.#write(this.#decoder.push(bytes));
  }

  omitted(bytes: number): void {
    this.#note(omittedLine(bytes));
  }

  restarted(): void {
    this.#note(TRUNCATED_LINE);
  }

  ended(): void {
    this.#write(this.#decoder.end());
    void currentAttempt(this.#target)
      .catch(() => this.#target.attempt)
      .then((attempt) => this.#note(endLine(attempt)));
  }

  trouble(error: unknown): void {
    this.#note(`[${toErrorData(error).message}]`);
  }

  /** A line of ours: dim, on a line of its own, after whatever style the job left on. */
  #note(line: string): void {
    this.#write(`\u001b[0m\r\n\u001b[2m${line}\u001b[0m\n`);
  }

  /** A terminal needs a return with every newline, which a file has not. */
  #write(text: string): void {
    if (text === '' || this.#reader === null) return;
    const starts = this.#returned && text.startsWith('\n');
    this.#returned = text.endsWith('\r');
    const lines = text.replace(/(?<!\r)\n/g, '\r\n');
    this.#written.fire(starts ? lines.slice(1) : lines);
  }
}
