/** The command that shows lanes over time, and what brings its panels back when a window is loaded again. */
import * as vscode from 'vscode';
import { idOf } from '../commands/arguments.ts';
import { resolveQueue } from '../commands/target.ts';
import type { Command, Laneway, Queue } from '../context.ts';
import { TIMELINE, TimelinePanel } from './panel.ts';
import type { Kept } from './webview/messages.ts';

const panelsOf = new WeakMap<Laneway, Map<Queue, TimelinePanel>>();

/** Panels end with the extension. */
export function activateTimeline(laneway: Laneway): void {
  const panels = new Map<Queue, TimelinePanel>();
  panelsOf.set(laneway, panels);
  const all: vscode.Disposable = {
    dispose: () => {
      for (const panel of panels.values()) panel.dispose();
    },
  };
  laneway.subscriptions.push(
    all,
    vscode.window.registerWebviewPanelSerializer(TIMELINE, {
      deserializeWebviewPanel: async (panel, kept: Partial<Kept> | undefined) => {
        const queue = laneway.queues().find(({ root }) => root === kept?.root);
        // Its folder is not open any more, or there is another panel of it.
        if (!queue || panels.has(queue)) panel.dispose();
        else panels.set(queue, new TimelinePanel(laneway, queue, () => panels.delete(queue), panel));
      },
    }),
  );
}

export const timelineCommands: Command[] = [
  {
    id: 'laneway.showTimeline',
    doing: 'show the timeline',
    /** A job, or a node of one, is brought into view. Returns the folder whose timeline is shown. */
    run: async (laneway, argument): Promise<{ folder: string } | undefined> => {
      const queue = await resolveQueue(laneway, argument);
      const panels = panelsOf.get(laneway);
      if (queue === undefined || panels === undefined) return undefined;
      await queue.connect();
      const panel = panels.get(queue) ?? new TimelinePanel(laneway, queue, () => panels.delete(queue));
      panels.set(queue, panel);
      const job = idOf(argument);
      panel.show(typeof job === 'number' ? job : null);
      return { folder: queue.root };
    },
  },
];
