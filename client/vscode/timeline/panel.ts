/**
 * The timeline's panel of one queue. It asks the server only while it is in sight: once for the
 * past, then after each hint for what overlaps the time since it asked last.
 */
import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { EventsHint, Lanes, Spans } from '../../../shared/protocol.ts';
import type { Laneway, Queue } from '../context.ts';
import { timelineHtml } from './html.ts';
import type { FromPage, ToPage } from './webview/messages.ts';

/** The editor knows its panels by this. */
export const TIMELINE = 'laneway.timeline';

/** How far back the first picture reaches: as long as jobs are kept by default. */
const FIRST_MS = 30 * 86_400_000;
/** Attempts of one answer. */
const MOST = 5000;
/** Answers are at least this far apart, in milliseconds. */
const GAP_MS = 500;
/** Clocks of windows and server are one machine's; this covers what commits while an answer is made. */
const OVERLAP_MS = 2000;

export class TimelinePanel implements vscode.Disposable {
  readonly #laneway: Laneway;
  readonly #queue: Queue;
  readonly #panel: vscode.WebviewPanel;
  readonly #subscriptions: vscode.Disposable[];
  #timer: NodeJS.Timeout | null = null;
  #ready = false;
  #stale = false;
  /** Until when the page knows everything; null before the first answer. */
  #until: number | null = null;
  #reveal: number | null = null;

  /** `restored` is a panel that the editor kept over a reload of the window. */
  constructor(laneway: Laneway, queue: Queue, onClosed: () => void, restored?: vscode.WebviewPanel) {
    this.#laneway = laneway;
    this.#queue = queue;
    const dist = vscode.Uri.joinPath(laneway.extension.extensionUri, 'dist');
    const options = { enableScripts: true, localResourceRoots: [dist] };
    this.#panel =
      restored ??
      vscode.window.createWebviewPanel(TIMELINE, `Timeline: ${queue.name}`, vscode.ViewColumn.Active, options);
    // What a restored one was allowed, another version's extension may have had elsewhere.
    this.#panel.webview.options = options;
    const media = vscode.Uri.joinPath(laneway.extension.extensionUri, 'media');
    this.#panel.iconPath = {
      light: vscode.Uri.joinPath(media, 'timeline-light.svg'),
      dark: vscode.Uri.joinPath(media, 'timeline-dark.svg'),
    };
    this.#subscriptions = [
      this.#panel.webview.onDidReceiveMessage((message: FromPage) => this.#received(message)),
      this.#panel.onDidChangeViewState(() => this.#seen()),
      this.#panel.onDidDispose(() => {
        this.dispose();
        onClosed();
      }),
      queue.on(EventsHint, () => this.#later()),
      queue.onDidConnect(() => this.#later()),
    ];
    this.#panel.webview.html = timelineHtml({
      nonce: randomBytes(16).toString('base64url'),
      script: this.#panel.webview.asWebviewUri(vscode.Uri.joinPath(dist, 'timeline.js')).toString(),
      folder: queue.name,
      root: queue.root,
    });
  }

  /** Brings it to the front, with a job in view when one is named. */
  show(job: number | null): void {
    this.#panel.reveal();
    if (job === null) return;
    if (this.#ready) this.#post({ type: 'reveal', job });
    else this.#reveal = job;
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const subscription of this.#subscriptions.splice(0)) subscription.dispose();
    this.#panel.dispose();
  }

  #received(message: FromPage): void {
    switch (message.type) {
      case 'ready':
        // A page that was hidden is made anew and knows nothing.
        this.#ready = true;
        this.#until = null;
        void this.#load();
        return;
      case 'range':
        void this.#send(message.from, message.to);
        return;
      case 'open':
        void vscode.commands.executeCommand('laneway.showLog', {
          queue: this.#queue,
          job: { id: message.job },
          attempt: message.attempt,
        });
        return;
      default:
        message satisfies never;
    }
  }

  #seen(): void {
    if (!this.#panel.visible) this.#ready = false;
    else if (this.#stale) this.#later();
  }

  /** A hint came: look again soon, if anybody looks at all. */
  #later(): void {
    if (!this.#panel.visible || !this.#ready) {
      this.#stale = true;
      return;
    }
    this.#stale = false;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      void this.#load();
    }, GAP_MS);
  }

  async #load(): Promise<void> {
    const now = Date.now();
    const from = this.#until === null ? now - FIRST_MS : this.#until - OVERLAP_MS;
    if (await this.#send(from, now + OVERLAP_MS)) this.#until = now;
  }

  async #send(from: number, to: number): Promise<boolean> {
    try {
      const [{ spans, truncated }, { lanes }] = await Promise.all([
        this.#queue.request(Spans, { from, to, limit: MOST }),
        this.#queue.request(Lanes, null),
      ]);
      const now = lanes.map((lane) => ({
        name: lane.name,
        running: lane.running,
        slots: lane.slots,
        waiting: lane.queued + lane.blocked,
        paused: lane.paused,
      }));
      // A short answer is called truncated when older attempts were not looked through: no matter here.
      this.#post({ type: 'spans', spans, lanes: now, from, to, truncated: truncated && spans.length >= MOST });
      if (this.#reveal !== null) this.#post({ type: 'reveal', job: this.#reveal });
      this.#reveal = null;
      return true;
    } catch (error) {
      const { message } = toErrorData(error);
      this.#laneway.log.warn(`timeline of ${this.#queue.name}: ${message}`);
      this.#post({ type: 'trouble', message });
      return false;
    }
  }

  #post(message: ToPage): void {
    void this.#panel.webview.postMessage(message);
  }
}
