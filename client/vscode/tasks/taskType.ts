/**
 * The task type `laneway`: a `tasks.json` entry that enqueues into a lane and streams the
 * job's output through its terminal, so that problem matchers see it. The task ends as the job
 * ends. Ctrl+C or ending the task cancels the job; a window that reloads or closes does not.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import { LanewayError, toErrorData } from '../../../shared/errors.ts';
import { sayLocally } from '../../../shared/format.ts';
import { type AddRequest, isTerminal, type Job } from '../../../shared/job.ts';
import { Cancel, Events, Show } from '../../../shared/protocol.ts';
import { addJob } from '../addJob/add.ts';
import type { Laneway, Queue } from '../context.ts';
import { LogReader, type LogSink } from '../output/reader.ts';
import { Utf8Decoder } from '../output/utf8.ts';
import { type TaskDefinition, taskExit, taskRequest } from './taskDefinition.ts';
import { endingText, jobName } from '../views/title.ts';

/** A closing window closes its terminals, too: only one that stays open this long meant the job. */
const MEANT_MS = 1500;
/** How long one request waits for the job's next event, in milliseconds. */
const EVENT_WAIT_MS = 30_000;
/** History a problem matcher must see: all of it. */
const WHOLE_LOG = 1_073_741_824;

/** Offer the task type. */
export function activateTaskType(laneway: Laneway): void {
  const open = new Set<JobTerminal>();
  laneway.subscriptions.push(
    vscode.tasks.registerTaskProvider('laneway', {
      provideTasks: () => [],
      resolveTask(task) {
        const scope = task.scope ?? vscode.TaskScope.Workspace;
        const execution = new vscode.CustomExecution((resolved) => {
          const folder = typeof scope === 'object' ? scope : undefined;
          const queue = folder ? laneway.queueFor(folder) : laneway.queues()[0];
          const terminal = new JobTerminal(laneway, queue, resolved as unknown as TaskDefinition, task.name, () =>
            open.delete(terminal),
          );
          open.add(terminal);
          return Promise.resolve(terminal);
        });
        return new vscode.Task(task.definition, scope, task.name, 'laneway', execution, task.problemMatchers);
      },
    }),
    new vscode.Disposable(() => {
      for (const terminal of open) terminal.abandon();
    }),
  );
}

class JobTerminal implements vscode.Pseudoterminal, LogSink {
  readonly #written = new vscode.EventEmitter<string>();
  readonly #closed = new vscode.EventEmitter<number>();
  readonly onDidWrite = this.#written.event;
  readonly onDidClose = this.#closed.event;
  readonly #laneway: Laneway;
  readonly #queue: Queue | undefined;
  readonly #definition: TaskDefinition;
  readonly #name: string;
  readonly #onGone: () => void;
  #decoder = new Utf8Decoder();
  #job: Job | null = null;
  #reader: LogReader | null = null;
  #readEnd: (() => void) | null = null;
  #over = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    laneway: Laneway,
    queue: Queue | undefined,
    definition: TaskDefinition,
    name: string,
    onGone: () => void,
  ) {
    this.#laneway = laneway;
    this.#queue = queue;
    this.#definition = definition;
    this.#name = name;
    this.#onGone = onGone;
  }

  open(): void {
    this.#run().catch((error: unknown) => {
      const { message, hint } = toErrorData(error);
      this.#note(`Laneway: ${message}.${hint ? ` ${hint}` : ''}`);
      this.#end(1);
    });
  }

  handleInput(text: string): void {
    if (text.includes('\u0003')) this.#cancel();
  }

  close(): void {
    if (!this.#over) this.#timer = setTimeout(() => this.#cancel(), MEANT_MS);
    this.#over = true;
    this.#reader?.dispose();
    this.#readEnd?.();
    if (this.#timer === null) this.#onGone();
  }

  /** The window goes: the job stays. */
  abandon(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#over = true;
    this.#reader?.dispose();
    this.#readEnd?.();
  }

  data(bytes: Uint8Array): void {
    this.#write(this.#decoder.push(bytes));
  }
  omitted(bytes: number): void {
    this.#note(`(${bytes} bytes passed over)`);
  }
  restarted(): void {
    this.#note('(the job truncated its output)');
  }
  ended(): void {
    this.#write(this.#decoder.end());
    this.#readEnd?.();
  }
  trouble(error: unknown): void {
    this.#note(toErrorData(error).message);
  }

  async #run(): Promise<void> {
    const queue = this.#queue;
    if (!queue) throw new LanewayError('REFUSED', 'no trusted folder is open', 'Open the folder and trust it.');
    const request: AddRequest = taskRequest(this.#definition, this.#name, process.platform, process.env['ComSpec']);
    if (request.cwd) request.cwd = path.resolve(queue.root, request.cwd);
    let job = await addJob(this.#laneway, queue, request);
    this.#job = job;
    this.#note(
      `${jobName(job)} in lane ${job.lane}${job.waitReason === null ? '' : `: ${sayLocally(job.waitReason)}`}`,
    );
    let since = 0;
    let seen = 0;
    while (!this.#over) {
      const shown = await queue.request(Show, { job: job.id });
      job = shown.job;
      for (const attempt of shown.attempts.filter(({ number }) => number > seen)) {
        seen = attempt.number;
        if (seen > 1) this.#note(`attempt ${seen}`);
        await this.#read(queue, job.id, seen);
        job = (await queue.request(Show, { job: job.id })).job;
      }
      if (isTerminal(job.state)) {
        this.#note(`${jobName(job)}: ${endingText(job) || job.state}`);
        this.#end(taskExit(job));
        return;
      }
      const { cursor } = await queue.request(Events, { job: job.id, since, waitMs: EVENT_WAIT_MS, limit: 1000 });
      since = Math.max(since, cursor);
    }
  }

  async #read(queue: Queue, job: number, attempt: number): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#readEnd = resolve;
    });
    this.#decoder = new Utf8Decoder();
    this.#reader = new LogReader(queue, this, { job, attempt, tailBytes: WHOLE_LOG });
    await this.#reader.start();
    await ended;
    this.#reader.dispose();
    this.#readEnd = null;
  }

  #cancel(): void {
    const job = this.#job;
    const queue = this.#queue;
    this.#timer = null;
    if (!job || !queue) return;
    this.#note('canceling the job…');
    queue.request(Cancel, { selection: { ids: [job.id] } }).then(
      () => undefined,
      (error: unknown) => this.#laneway.log.warn(`cancel #${job.id}: ${toErrorData(error).message}`),
    );
  }

  #end(code: number): void {
    if (this.#over) return;
    this.#over = true;
    this.#closed.fire(code);
    this.#onGone();
  }

  #note(line: string): void {
    this.#written.fire(`\u001b[2m${line}\u001b[0m\r\n`);
  }
  #write(text: string): void {
    if (text !== '') this.#written.fire(text.replace(/\r?\n/g, '\r\n'));
  }
}
