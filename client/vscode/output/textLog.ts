/**
 * Turns what a reader tells of a log into text for a place that can append and be replaced (a
 * channel, a document), and keeps that place bounded: past four times the wanted tail it is
 * cut back to the tail, with a line that says so.
 */
import { LogText } from './logText.ts';
import type { LogSink } from './reader.ts';
import { omittedLine, TRUNCATED_LINE, undecodableLine } from './words.ts';

export interface TextTarget {
  append(text: string): void;
  replace(text: string): void;
}

export interface TextLogOptions {
  /** Characters kept when the place is cut back. */
  keep: number;
  /** The line in place of omitted bytes. */
  omitted?: (bytes: number) => string;
  /** The last line: how the attempt ended. */
  ending: () => Promise<string>;
  trouble: (error: unknown) => void;
}

/** How far beyond the tail a place grows before it is cut back; cutting redraws all of it. */
const SLACK = 4;

export class TextLog implements LogSink {
  readonly #target: TextTarget;
  readonly #options: TextLogOptions;
  #text = new LogText();
  #recent: string[] = [];
  #recentLength = 0;
  #shown = 0;
  #cut = 0;
  #atLineStart = true;
  #stopped = false;

  constructor(target: TextTarget, options: TextLogOptions) {
    this.#target = target;
    this.#options = options;
  }

  data(bytes: Uint8Array): void {
    this.#append(this.#text.push(bytes));
  }

  omitted(bytes: number): void {
    this.#note((this.#options.omitted ?? omittedLine)(bytes));
  }

  restarted(): void {
    this.#note(TRUNCATED_LINE);
  }

  ended(): void {
    this.#append(this.#text.end());
    const undecodable = undecodableLine(this.#text.undecodable);
    if (undecodable !== null) this.#line(undecodable);
    void this.#options
      .ending()
      .then((line) => this.#line(line))
      .catch((error: unknown) => this.#options.trouble(error));
  }

  trouble(error: unknown): void {
    this.#options.trouble(error);
  }

  /** Writes nothing more, whatever is still under way. */
  dispose(): void {
    this.#stopped = true;
  }

  /** A line of ours amid the output: the text before it is complete as far as it goes. */
  #note(line: string): void {
    this.#append(this.#text.end());
    this.#line(line);
  }

  #line(line: string): void {
    this.#append(`${this.#atLineStart ? '' : '\n'}${line}\n`);
  }

  #append(text: string): void {
    if (text === '' || this.#stopped) return;
    this.#atLineStart = text.endsWith('\n');
    this.#remember(text);
    this.#shown += text.length;
    if (this.#shown <= this.#options.keep * SLACK) {
      this.#target.append(text);
      return;
    }
    const tail = this.#recent.join('').slice(-this.#options.keep);
    // From the next whole line on, unless one line is longer than all that is kept.
    const line = tail.indexOf('\n') + 1;
    const kept = line < tail.length ? tail.slice(line) : tail;
    this.#cut += this.#shown - kept.length;
    this.#recent = [kept];
    this.#recentLength = kept.length;
    this.#shown = kept.length;
    this.#target.replace(`${(this.#options.omitted ?? omittedLine)(this.#cut)}\n${kept}`);
  }

  /** The newest pieces that together hold at least `keep` characters. */
  #remember(text: string): void {
    this.#recent.push(text);
    this.#recentLength += text.length;
    for (let first = this.#recent[0]; first !== undefined; first = this.#recent[0]) {
      if (this.#recentLength - first.length < this.#options.keep) return;
      this.#recent.shift();
      this.#recentLength -= first.length;
    }
  }
}
