/** `laneway.cancelAll`: cancel every live job of a lane, or of the queue; asks first when some run. */
import * as vscode from 'vscode';
import { sayCount } from '../../../shared/format.ts';
import { Cancel, Lanes } from '../../../shared/protocol.ts';
import type { Command } from '../context.ts';
import { laneOf } from './arguments.ts';
import { report } from './results.ts';
import { resolveQueue } from './target.ts';

export const cancelAll: Command = {
  id: 'laneway.cancelAll',
  doing: 'cancel the jobs',
  async run(laneway, argument, options) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    const name = laneOf(argument);
    const { lanes } = await queue.request(Lanes, null);
    const meant = lanes.filter((lane) => name === null || lane.name === name);
    const running = meant.reduce((sum, lane) => sum + lane.running, 0);
    const waiting = meant.reduce((sum, lane) => sum + lane.queued + lane.blocked, 0);
    const sure = (options as { yes?: unknown } | undefined)?.yes === true;
    if (!sure && running + waiting > 0 && !(await confirm(name, running, waiting))) return undefined;
    const { results } = await queue.request(Cancel, { selection: { all: true, lane: name } });
    return report(results, 'canceled');
  },
};

async function confirm(lane: string | null, running: number, waiting: number): Promise<boolean> {
  const where = lane === null ? 'in all lanes' : `in lane ${lane}`;
  const what = `Cancel ${sayCount(running, 'running job')} and ${sayCount(waiting, 'waiting job')} ${where}?`;
  const detail = running > 0 ? 'Running jobs are asked to end, and killed after their grace.' : '';
  const yes = 'Cancel Jobs';
  return (await vscode.window.showWarningMessage(what, { modal: true, detail }, yes)) === yes;
}
