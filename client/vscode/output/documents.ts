/**
 * A whole log as a read-only document: searchable, selectable, and growing while the attempt
 * runs. Only the very large is cut, and then the document names the file that has it all.
 */
import * as vscode from 'vscode';
import { sayBytes } from '../../../shared/format.ts';
import { toErrorData } from '../../../shared/errors.ts';
import type { Laneway } from '../context.ts';
import { currentAttempt, type AttemptTarget } from './attempt.ts';
import { LogReader } from './reader.ts';
import { TextLog } from './textLog.ts';
import { endLine, logTitle } from './words.ts';

const LOG_SCHEME = 'laneway-log';
/** Bytes of history in a document. VS Code does not hand documents over 50 MB to extensions. */
const MOST_BYTES = 16 * 1_048_576;
/** Characters kept when a growing one is cut back, which happens at four times as many. */
const KEPT = 8 * 1_048_576;
/** A growing document is shown anew at most this often, in milliseconds. */
const REFRESH_MS = 400;

interface OpenDocument {
  text: string;
  dispose(): void;
}

export class LogDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #laneway: Laneway;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #open = new Map<string, OpenDocument>();
  readonly #listeners: vscode.Disposable[];

  constructor(laneway: Laneway) {
    this.#laneway = laneway;
    this.#listeners = [
      vscode.workspace.registerTextDocumentContentProvider(LOG_SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.#close(document.uri.toString())),
    ];
  }

  /** Opens the attempt's log in an editor. @returns the document's URI. */
  async show(target: AttemptTarget): Promise<vscode.Uri> {
    const title = logTitle(target.job, target.attempt.number).replaceAll('/', '\u2215');
    const query = new URLSearchParams({ folder: target.queue.root, job: `${target.job.id}` });
    const uri = vscode.Uri.from({ scheme: LOG_SCHEME, path: `/${title}.log`, query: query.toString() });
    const key = uri.toString();
    if (!this.#open.has(key)) {
      const opened = this.#follow(target, uri);
      this.#open.set(key, opened.document);
      await opened.loaded;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: false });
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    // A document that the editor restored after a reload has no log behind it until it is asked for again.
    return this.#open.get(uri.toString())?.text ?? '[run "Laneway: Open Log" to read this log again]\n';
  }

  dispose(): void {
    for (const key of this.#open.keys()) this.#close(key);
    for (const listener of this.#listeners) listener.dispose();
    this.#changed.dispose();
  }

  #close(key: string): void {
    this.#open.get(key)?.dispose();
    this.#open.delete(key);
  }

  #follow(target: AttemptTarget, uri: vscode.Uri): { document: OpenDocument; loaded: Promise<void> } {
    const { attempt } = target;
    let timer: NodeJS.Timeout | null = null;
    const refresh = (): void => {
      timer ??= setTimeout(() => {
        timer = null;
        this.#changed.fire(uri);
      }, REFRESH_MS);
    };
    const document: OpenDocument = {
      text: '',
      dispose: () => {
        if (timer !== null) clearTimeout(timer);
        reader.dispose();
        log.dispose();
      },
    };
    const set = (text: string): void => {
      document.text = text;
      refresh();
    };
    const log = new TextLog(
      { append: (text) => set(document.text + text), replace: set },
      {
        keep: KEPT,
        omitted: (bytes) =>
          `[… ${sayBytes(bytes)} before this omitted; the whole log: ${attempt.stdoutPath ?? 'gone'}]`,
        ending: async () => endLine(await currentAttempt(target)),
        trouble: (error) => this.#laneway.log.warn(`${uri.path}: ${toErrorData(error).message}`),
      },
    );
    const reader = new LogReader(target.queue, log, {
      job: target.job.id,
      attempt: attempt.number,
      tailBytes: MOST_BYTES,
    });
    return { document, loaded: reader.start() };
  }
}
