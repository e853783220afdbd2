/** The views' own commands: refresh, filter, show more. `ViewControls` is what `views.ts` offers them. */
import * as vscode from 'vscode';
import type { Command, Laneway } from '../context.ts';
import type { ListQuery } from '../jobLists.ts';
import { queueOf } from './arguments.ts';

export interface ViewControls {
  filter(): string;
  setFilter(text: string): void;
}

/** The commands over a window's views. */
export function viewCommands(controls: ViewControls): Command[] {
  return [
    {
      id: 'laneway.refresh',
      doing: 'refresh the views',
      run(laneway: Laneway) {
        for (const queue of laneway.queues()) queue.cache.refresh();
      },
    },
    {
      id: 'laneway.filterJobs',
      doing: 'filter the jobs',
      async run(_laneway, argument) {
        const text =
          typeof argument === 'string'
            ? argument
            : await vscode.window.showInputBox({
                title: 'Filter jobs',
                prompt: 'A part of the command, label or id; empty shows all',
                value: controls.filter(),
              });
        if (text !== undefined) controls.setFilter(text.trim());
        return controls.filter();
      },
    },
    { id: 'laneway.clearFilter', doing: 'clear the filter', run: () => controls.setFilter('') },
    {
      id: 'laneway.showMore',
      doing: 'show more jobs',
      async run(_laneway, argument) {
        const { query } = (argument ?? {}) as { query?: ListQuery };
        await (query && queueOf(argument)?.cache.more(query));
      },
    },
  ];
}
