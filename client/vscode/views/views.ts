/**
 * The window's two views with what hangs on them: badge, status bar item, view progress,
 * filter, and the context keys that choose the welcome content. All of it lives from the hints
 * alone, so it is right while the views are hidden, too.
 */
import * as vscode from 'vscode';
import type { ViewControls } from '../commands/views.ts';
import type { Laneway, Queue } from '../context.ts';
import { type Glance, glance, stillSeen } from './glance.ts';
import { JobTree } from './jobTree.ts';
import type { Node } from './nodes.ts';
import { isEmpty, lanesShape, statesShape } from './shapes.ts';

export class Views implements ViewControls, vscode.Disposable {
  readonly #laneway: Laneway;
  readonly #trees: { id: string; tree: JobTree; view: vscode.TreeView<Node> }[] = [];
  readonly #statusBar: vscode.StatusBarItem;
  readonly #seenDead = new Map<Queue, number>();
  readonly #perQueue: vscode.Disposable[] = [];
  readonly #own: vscode.Disposable[] = [];
  readonly #keys = new Map<string, unknown>();
  #filter = '';
  /** By view: what ends its progress bar. */
  readonly #progress = new Map<string, () => void>();

  constructor(laneway: Laneway) {
    this.#laneway = laneway;
    this.#statusBar = vscode.window.createStatusBarItem('laneway.status', vscode.StatusBarAlignment.Left, 10);
    this.#statusBar.name = 'Laneway';
    this.#statusBar.command = 'laneway.findJob';
    const filter = (): string => this.#filter;
    this.#add('laneway.lanes', new JobTree(laneway, lanesShape(filter)));
    this.#add('laneway.states', new JobTree(laneway, statesShape(filter)));
    this.#own.push(
      this.#statusBar,
      laneway.onDidChangeQueues(() => this.#bind()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('laneway.statusBar')) this.#show();
      }),
    );
    this.#bind();
  }

  filter(): string {
    return this.#filter;
  }

  setFilter(text: string): void {
    if (text === this.#filter) return;
    this.#filter = text;
    this.#setKey('laneway:filtered', text !== '');
    for (const { view } of this.#trees) view.message = text === '' ? undefined : `Only jobs with “${text}”`;
    for (const queue of this.#laneway.queues()) queue.cache.refresh();
  }

  /** The person looked: deaths so far alarm no more. */
  markSeen(): void {
    for (const queue of this.#laneway.queues()) {
      const { counts } = queue.cache;
      if (counts) this.#seenDead.set(queue, counts.dead);
    }
    this.#show();
  }

  dispose(): void {
    this.#showProgress(false);
    for (const { tree, view } of this.#trees) {
      tree.dispose();
      view.dispose();
    }
    for (const one of [...this.#perQueue, ...this.#own]) one.dispose();
  }

  #add(id: string, tree: JobTree): void {
    const view = vscode.window.createTreeView(id, {
      treeDataProvider: tree,
      showCollapseAll: true,
      canSelectMany: true,
    });
    this.#trees.push({ id, tree, view });
    this.#own.push(
      view.onDidChangeVisibility(({ visible }) => {
        tree.setVisible(visible);
        if (visible) this.markSeen();
        else this.#show();
      }),
    );
    tree.setVisible(view.visible);
  }

  #bind(): void {
    for (const one of this.#perQueue) one.dispose();
    this.#perQueue.length = 0;
    for (const queue of this.#laneway.queues()) {
      this.#perQueue.push(
        queue.cache.onDidHint(({ counts }) => {
          const looking = this.#trees.some(({ view }) => view.visible);
          const seen = this.#seenDead.get(queue);
          this.#seenDead.set(queue, looking || seen === undefined ? counts.dead : stillSeen(seen, counts));
          this.#show();
        }),
        queue.onDidChangeState(() => this.#show()),
      );
    }
    for (const queue of this.#seenDead.keys())
      if (!this.#laneway.queues().includes(queue)) this.#seenDead.delete(queue);
    this.#show();
  }

  #show(): void {
    const queues = this.#laneway.queues();
    const known = queues.flatMap((queue) => {
      const { counts } = queue.cache;
      return counts && queue.state === 'ready' ? [{ counts, seenDead: this.#seenDead.get(queue) ?? counts.dead }] : [];
    });
    const now = glance(known);
    this.#showStatusBar(now, queues);
    const first = this.#trees[0];
    if (first && first.view.badge?.value !== now.badge?.value) first.view.badge = now.badge ?? undefined;
    this.#showProgress(now.running > 0 || queues.some(({ state }) => state === 'starting'));
    const single = queues.length === 1 ? queues[0] : undefined;
    const none = vscode.workspace.isTrusted ? 'none' : 'untrusted';
    this.#setKey('laneway:state', single ? shownState(single) : queues.length === 0 ? none : 'ready');
    this.#setKey('laneway:failure', single?.failure?.code ?? '');
    this.#setKey('laneway:multiRoot', queues.length > 1);
    const trouble = queues
      .map(({ failure, waiting, cache }) => failure?.message ?? waiting ?? cache.hint?.trouble)
      .find(Boolean);
    for (const { view } of this.#trees) view.description = trouble ?? undefined;
  }

  #showStatusBar({ text, tooltip, alarming }: Glance, queues: readonly Queue[]): void {
    const failed = queues.find(({ state }) => state === 'failed');
    const waiting = queues.find((queue) => queue.waiting !== null)?.waiting;
    const shown = failed ? '$(warning) Laneway' : waiting ? '$(watch) Laneway' : text;
    const why = failed?.failure?.message ?? waiting;
    const label = why ? `Laneway: ${why}` : tooltip;
    if (shown === null || this.#laneway.settings('statusBar') === false) {
      this.#statusBar.hide();
      return;
    }
    this.#statusBar.text = shown;
    this.#statusBar.tooltip = label;
    const color = alarming ? 'statusBarItem.errorBackground' : failed ? 'statusBarItem.warningBackground' : null;
    this.#statusBar.backgroundColor = color === null ? undefined : new vscode.ThemeColor(color);
    this.#statusBar.accessibilityInformation = { label, role: 'button' };
    this.#statusBar.show();
  }

  /**
   * The editor's own progress bar over a view while jobs run. Only over one that is seen: the bar
   * comes with a spinner on the Activity Bar that would cover the badge's number.
   */
  #showProgress(busy: boolean): void {
    for (const { view, id } of this.#trees) {
      const end = this.#progress.get(id);
      if (end && !(busy && view.visible)) {
        this.#progress.delete(id);
        end();
      } else if (!end && busy && view.visible) {
        const done = new Promise<void>((resolve) => this.#progress.set(id, resolve));
        void vscode.window.withProgress({ location: { viewId: id } }, () => done);
      }
    }
  }

  #setKey(key: string, value: unknown): void {
    if (this.#keys.get(key) === value) return;
    this.#keys.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}

/** What the welcome content goes by. Only a queue that is known to hold nothing is called empty. */
function shownState(queue: Queue): string {
  if (queue.waiting !== null) return 'waiting';
  return queue.state === 'ready' && queue.cache.counts && isEmpty(queue) ? 'empty' : queue.state;
}
