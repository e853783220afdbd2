/**
 * The tree data provider behind both views. Nodes keep their identity while what they show
 * changes, so that expansion, selection and scroll stay; a change repaints the nodes it
 * concerns and reads children again only where a list is another one. While the view is hidden
 * nothing is asked of the server.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { isTerminal } from '../../../shared/job.ts';
import type { Laneway, Queue } from '../context.ts';
import type { CacheChange } from '../jobCache.ts';
import { hasMore, listKey, type ListQuery } from '../jobLists.ts';
import { describe } from './describe.ts';
import type { JobNode, Node } from './nodes.ts';
import { tooltip, treeItem } from './treeItem.ts';

/** What stands on top of a queue's tree, and which lists stand under those nodes. */
export interface Shape {
  /** Lanes or groups. Asks the server for what it needs. */
  top(queue: Queue): Promise<Node[]>;
  /** The lists below a node of `top`. */
  below(node: Node): ListQuery[];
  /** Bring `top`'s nodes up to date without asking: true when there are others now. */
  update(queue: Queue, nodes: Map<string, Node>): { touched: Node[]; others: boolean };
}

/** Between two looks at whose running time reads differently, in milliseconds. */
const TICK_MS = 1000;
/** Ended jobs may be thousands, and read differently by the minute only: every so many ticks. */
const ENDED_TICKS = 30;

export class JobTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #laneway: Laneway;
  readonly #shape: Shape;
  readonly #emitter = new vscode.EventEmitter<Node[] | undefined>();
  readonly onDidChangeTreeData = this.#emitter.event;
  readonly #nodes = new Map<string, Node>();
  /** Child ids by parent id, to forget what is not shown any more. */
  readonly #children = new Map<string, string[]>();
  /** The nodes of each job, by queue and id. */
  readonly #jobNodes = new WeakMap<Queue, Map<number, Set<JobNode>>>();
  readonly #parents = new Map<string, Node>();
  readonly #shown = new Map<string, string>();
  readonly #perQueue: vscode.Disposable[] = [];
  readonly #ownSubscriptions: vscode.Disposable[] = [];
  #visible = false;
  #tick: NodeJS.Timeout | null = null;
  #ticks = 0;

  constructor(laneway: Laneway, shape: Shape) {
    this.#laneway = laneway;
    this.#shape = shape;
    this.#ownSubscriptions.push(
      laneway.onDidChangeQueues(() => {
        this.#bind();
        this.#reset();
      }),
    );
    this.#bind();
  }

  /** Follow the view: hidden, it asks for nothing and does not tick. */
  setVisible(visible: boolean): void {
    this.#visible = visible;
    for (const queue of this.#laneway.queues()) queue.cache.watch(this, visible && queue.state === 'ready');
    if (visible && !this.#tick) this.#tick = setInterval(() => this.#onTick(), TICK_MS);
    else if (!visible && this.#tick) {
      clearInterval(this.#tick);
      this.#tick = null;
    }
    if (visible) this.#emitter.fire(undefined);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const shown = describe(node, Date.now());
    this.#shown.set(node.id, shown.description);
    return treeItem(node, shown);
  }

  resolveTreeItem(item: vscode.TreeItem, node: Node): vscode.TreeItem {
    const rows = describe(node, Date.now()).tooltip();
    if (rows.length > 0) item.tooltip = tooltip(rows);
    return item;
  }

  async getChildren(node?: Node): Promise<Node[]> {
    const queue = node?.queue;
    try {
      if (!node) return await this.#roots();
      return this.#remember(node, await this.#below(node));
    } catch (error) {
      const { message } = toErrorData(error);
      this.#laneway.log.warn(`reading the tree: ${message}`);
      // What failed on the way to the server is told by the view's welcome.
      if (!queue || queue.state !== 'ready') return [];
      const text = `Could not be read: ${message}`;
      return [{ kind: 'note', id: `${node?.id ?? queue.root}/note`, queue, text, trouble: true }];
    }
  }

  getParent(node: Node): Node | undefined {
    return this.#parents.get(node.id);
  }

  dispose(): void {
    this.setVisible(false);
    for (const one of [...this.#perQueue, ...this.#ownSubscriptions]) one.dispose();
    this.#perQueue.length = 0;
    this.#ownSubscriptions.length = 0;
    this.#emitter.dispose();
  }

  #bind(): void {
    for (const one of this.#perQueue) one.dispose();
    this.#perQueue.length = 0;
    for (const queue of this.#laneway.queues()) {
      this.#perQueue.push(
        queue.cache.onDidChange((change) => this.#onChange(queue, change)),
        queue.cache.onDidHint(() => this.#onHint(queue)),
        queue.onDidChangeState((state) => {
          queue.cache.watch(this, this.#visible && state === 'ready');
          this.#reset();
        }),
      );
      queue.cache.watch(this, this.#visible && queue.state === 'ready');
    }
  }

  #reset(): void {
    if (this.#visible) this.#emitter.fire(undefined);
  }

  async #roots(): Promise<Node[]> {
    const queues = this.#laneway.queues();
    const [first] = queues;
    if (!first) return [];
    if (queues.length === 1) return this.#remember(null, await this.#top(first));
    const folders = queues.map((queue): Node => this.#keep({ kind: 'folder', id: queue.root, queue }));
    return this.#remember(null, folders);
  }

  /** Showing a queue's jobs is the user's wish to have its server, unless it was ended on purpose. */
  async #top(queue: Queue): Promise<Node[]> {
    if (queue.state !== 'ready') {
      if (!this.#visible || queue.stopped || queue.state === 'failed') return [];
      if (!(await this.#laneway.attempt('start the server', () => reached(queue)))) return [];
    }
    return (await this.#shape.top(queue)).map((node) => this.#keep(node));
  }

  async #below(node: Node): Promise<Node[]> {
    switch (node.kind) {
      case 'folder': {
        const top = await this.#top(node.queue);
        return top.length > 0 ? top : [folderNote(node.queue)];
      }
      case 'lane':
      case 'group':
        return (await Promise.all(this.#shape.below(node).map((query) => this.#list(node, query)))).flat();
      case 'job':
        return await this.#attempts(node);
      case 'attempt':
        return node.stages.map((stage): Node => ({
          kind: 'stage',
          id: `${node.id}/${stage.name}`,
          queue: node.queue,
          stage,
        }));
      case 'stage':
      case 'more':
      case 'note':
        return [];
    }
  }

  async #list(parent: Node, query: ListQuery): Promise<Node[]> {
    const { queue } = parent;
    this.#parents.set(`${queue.root}|${listKey(query)}`, parent);
    const list = await queue.cache.load(query);
    const nodes = queue.cache
      .rows(list)
      .map((job): Node => this.#keep({ kind: 'job', id: `${parent.id}/${job.id}`, queue, job }));
    if (hasMore(list)) {
      nodes.push(this.#keep({ kind: 'more', id: `${parent.id}/more/${query.states.join(',')}`, queue, query }));
    }
    return nodes;
  }

  async #attempts(node: JobNode): Promise<Node[]> {
    const { queue, job } = node;
    const { attempts, checkpoints } = await queue.cache.loadDetail(job.id);
    return attempts
      .toSorted((a, b) => b.number - a.number)
      .map((attempt) => {
        const stages = checkpoints.filter((stage) => stage.attempt === attempt.number);
        return this.#keep({ kind: 'attempt', id: `${node.id}.${attempt.number}`, queue, job, attempt, stages });
      });
  }

  /** The node that already stands for this thing, brought up to date; else this one. */
  #keep(node: Node): Node {
    const known = this.#nodes.get(node.id);
    if (known) return Object.assign(known, node);
    this.#nodes.set(node.id, node);
    if (node.kind === 'job') {
      const all = this.#jobNodes.get(node.queue) ?? new Map<number, Set<JobNode>>();
      this.#jobNodes.set(node.queue, all.set(node.job.id, (all.get(node.job.id) ?? new Set()).add(node)));
    }
    return node;
  }

  #remember(parent: Node | null, children: Node[]): Node[] {
    const key = parent?.id ?? '';
    const ids = children.map((child) => child.id);
    const staying = new Set(ids);
    for (const id of this.#children.get(key) ?? []) if (!staying.has(id)) this.#forget(id);
    this.#children.set(key, ids);
    for (const child of children) if (parent) this.#parents.set(child.id, parent);
    return children;
  }

  #forget(id: string): void {
    const node = this.#nodes.get(id);
    this.#nodes.delete(id);
    this.#parents.delete(id);
    this.#shown.delete(id);
    if (node?.kind === 'job') {
      const all = this.#jobNodes.get(node.queue);
      const nodes = all?.get(node.job.id);
      nodes?.delete(node);
      if (nodes?.size === 0) all?.delete(node.job.id);
    }
    for (const child of this.#children.get(id) ?? []) this.#forget(child);
    this.#children.delete(id);
  }

  #onChange(queue: Queue, change: CacheChange): void {
    if (!this.#visible) return;
    if (change.all) {
      this.#emitter.fire(undefined);
      return;
    }
    const fired = new Set<Node>();
    for (const key of change.lists) {
      const parent = this.#parents.get(`${queue.root}|${key}`);
      if (parent) fired.add(parent);
    }
    const jobNodes = this.#jobNodes.get(queue);
    for (const id of change.jobs) {
      const job = queue.cache.job(id);
      for (const node of jobNodes?.get(id) ?? []) {
        if (job) node.job = job;
        const parent = this.#parents.get(node.id);
        if (!parent || !fired.has(parent)) fired.add(node);
      }
    }
    if (change.lanes && this.#updateTop(queue, fired)) return;
    if (fired.size > 0) this.#emitter.fire([...fired]);
  }

  /** Counts come with the hint: the groups' numbers are right even where no list is loaded. */
  #onHint(queue: Queue): void {
    if (!this.#visible) return;
    const fired = new Set<Node>();
    if (!this.#updateTop(queue, fired) && fired.size > 0) this.#emitter.fire([...fired]);
  }

  #updateTop(queue: Queue, fired: Set<Node>): boolean {
    const { touched, others } = this.#shape.update(queue, this.#nodes);
    for (const node of touched) fired.add(node);
    if (!others) return false;
    const folder = this.#nodes.get(queue.root);
    this.#emitter.fire(folder ? [folder] : undefined);
    return true;
  }

  /** Repaint the nodes whose line reads differently by now. */
  #onTick(): void {
    const now = Date.now();
    const fired: Node[] = [];
    this.#ticks += 1;
    const everything = this.#ticks % ENDED_TICKS === 0;
    for (const [id, before] of this.#shown) {
      const node = this.#nodes.get(id);
      if (!everything && node?.kind === 'job' && isTerminal(node.job.state)) continue;
      if (node && describe(node, now).description !== before) fired.push(node);
    }
    if (fired.length > 0) this.#emitter.fire(fired);
  }
}

/** Welcome contents stand in an empty view only; below one of several folders a line says the same. */
function folderNote(queue: Queue): Node {
  const base = { kind: 'note' as const, id: `${queue.root}/note`, queue };
  if (queue.state === 'ready') {
    return { ...base, text: 'No jobs yet', trouble: false, command: { id: 'laneway.addJob', title: 'Add Job' } };
  }
  const command = { id: 'laneway.startServer', title: 'Start Server' };
  if (queue.waiting !== null) return { ...base, text: `Waiting: ${queue.waiting}`, trouble: false };
  if (queue.state !== 'failed') return { ...base, text: 'The server is not running', trouble: false, command };
  const text = `The server could not be reached: ${queue.failure?.message ?? 'it ended'}`;
  return { ...base, text, trouble: true, command };
}

/** Whether the server was reached; false at once when an older one must finish first, which may take hours. */
async function reached(queue: Queue): Promise<boolean> {
  return await new Promise((resolve, reject) => {
    const look = (): void => {
      if (queue.waiting !== null) resolve(false);
    };
    const looking = queue.onDidChangeState(look);
    look();
    const done = (): void => looking.dispose();
    queue
      .connect()
      .then(() => resolve(true), reject)
      .finally(done);
  });
}
