/**
 * The extension's entry: makes the {@link Laneway} of this window, registers what package.json
 * contributes, and starts nothing. A server is started when a Laneway view is shown or a
 * command needs one, or when a trusted folder has jobs that wait for it.
 */
import path from 'node:path';
import * as vscode from 'vscode';
import { toErrorData } from '../../shared/errors.ts';
import { activateCliOffer } from './commands/installCli.ts';
import { progressOf } from './commands/showProgress.ts';
import { allCommands } from './commands/index.ts';
import type { Command, Laneway, Queue } from './context.ts';
import { hasLiveJobs } from './liveJobs.ts';
import { tellFailure } from './messages/tell.ts';
import { Notifications } from './messages/notifications.ts';
import { activateOutput } from './output/index.ts';
import { FolderQueue } from './queue.ts';
import { thisRuntime } from './runtime.ts';
import { activateSettingsSync, settingsOf } from './settingsSync.ts';
import { activateTaskType } from './tasks/taskType.ts';
import { activateTerminalPath } from './terminal/terminalPath.ts';
import { activateTimeline } from './timeline/index.ts';
import { Views } from './views/views.ts';

/** What other extensions and tests get: the queues, and how long activation's own work took. */
export interface LanewayApi {
  readonly laneway: Laneway;
  /** Milliseconds. */
  readonly activationMs: number;
}

let window: LanewayWindow | null = null;

export function activate(extension: vscode.ExtensionContext): LanewayApi {
  const began = performance.now();
  window = new LanewayWindow(extension);
  window.activate();
  const activationMs = performance.now() - began;
  window.log.info(`activated in ${activationMs.toFixed(1)} ms`);
  return { laneway: window, activationMs };
}

export async function deactivate(): Promise<void> {
  await window?.dispose();
  window = null;
}

class LanewayWindow implements Laneway {
  readonly extension: vscode.ExtensionContext;
  readonly subscriptions: vscode.Disposable[] = [];
  readonly log = vscode.window.createOutputChannel('Laneway', { log: true });
  readonly settings = settingsOf();
  readonly #queuesEmitter = new vscode.EventEmitter<void>();
  readonly onDidChangeQueues = this.#queuesEmitter.event;
  readonly #notifications = new Notifications(this);
  #queues: FolderQueue[] = [];

  constructor(extension: vscode.ExtensionContext) {
    this.extension = extension;
  }

  activate(): void {
    this.#openFolders();
    const views = new Views(this);
    this.subscriptions.push(
      views,
      this.#notifications,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#openFolders()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#openFolders()),
    );
    for (const command of allCommands(views)) this.subscriptions.push(this.#register(command));
    activateOutput(this);
    activateTimeline(this);
    activateSettingsSync(this);
    activateTaskType(this);
    activateTerminalPath(this);
    activateCliOffer(this);
  }

  queues(): readonly Queue[] {
    return this.#queues;
  }

  queueFor(place: string | vscode.Uri | vscode.WorkspaceFolder): Queue | undefined {
    if (typeof place === 'string') return this.#holding(place);
    if (place instanceof vscode.Uri) return place.scheme === 'file' ? this.#holding(place.fsPath) : undefined;
    return this.#queues.find(({ folder }) => folder.uri.toString() === place.uri.toString());
  }

  added(queue: Queue, job: Parameters<Laneway['added']>[1]): void {
    this.#notifications.follow(queue, job);
    if (this.settings('showProgress') === true) void this.attempt('show the progress', () => progressOf(queue, job));
  }

  async attempt<T>(doing: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof vscode.CancellationError)) tellFailure(this.log, doing, error);
      return undefined;
    }
  }

  /** Ends the sessions; servers and jobs go on. Safe to call twice. */
  async dispose(): Promise<void> {
    for (const one of this.subscriptions.splice(0).toReversed()) one.dispose();
    await Promise.all(this.#queues.splice(0).map((queue) => queue.dispose()));
    this.#queuesEmitter.dispose();
    this.log.dispose();
  }

  #register(command: Command): vscode.Disposable {
    return vscode.commands.registerCommand(command.id, (...args: unknown[]) =>
      this.attempt(command.doing, async () => await command.run(this, ...args)),
    );
  }

  #holding(file: string): Queue | undefined {
    const holds = ({ root, folder }: FolderQueue): boolean =>
      [root, folder.uri.fsPath].some((each) => within(each, file));
    return this.#queues.filter(holds).toSorted((a, b) => b.root.length - a.root.length)[0];
  }

  /** One queue per root folder on disk; none while the workspace is not trusted. */
  #openFolders(): void {
    const folders = vscode.workspace.isTrusted ? (vscode.workspace.workspaceFolders ?? []) : [];
    const before = this.#queues;
    this.#queues = folders
      .filter(({ uri }) => uri.scheme === 'file')
      .map(
        (folder) => before.find((queue) => queue.folder.uri.toString() === folder.uri.toString()) ?? this.#open(folder),
      );
    const gone = before.filter((queue) => !this.#queues.includes(queue));
    this.#notifications.bind(this.#queues);
    this.#queuesEmitter.fire();
    for (const queue of gone) void this.attempt('close a folder', () => queue.dispose());
  }

  #open(folder: vscode.WorkspaceFolder): FolderQueue {
    const { extension, log } = this;
    const runtime = thisRuntime();
    const queue = new FolderQueue({
      folder,
      extension,
      log,
      runtime,
      env: process.env,
      onWaiting(_queue, what, finished) {
        const options = { location: vscode.ProgressLocation.Notification, title: `Laneway waits: ${what}` };
        void vscode.window.withProgress(options, () => finished);
      },
      onFailure: (error) => tellFailure(log, 'reach the server', error),
    });
    // Jobs that wait for a server get one; a folder by itself does not.
    hasLiveJobs(queue.root, { extensionPath: extension.extensionPath, runtime, env: process.env })
      .then(async (live) => {
        if (live && this.#queues.includes(queue)) await queue.connect();
      })
      .catch((error: unknown) => log.debug(`${folder.name}: looking for waiting jobs: ${toErrorData(error).message}`));
    return queue;
  }
}

function within(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative === '' || (!relative.startsWith(`..${path.sep}`) && relative !== '..' && !path.isAbsolute(relative));
}
