/**
 * `laneway.restartServer` and `laneway.startServer`. Running jobs end first, or are stopped and
 * requeued when the person says so (`{force}` from a program). Resolves when a server answers.
 */
import * as vscode from 'vscode';
import { toErrorData } from '../../../shared/errors.ts';
import { sayCount } from '../../../shared/format.ts';
import { ServerStop } from '../../../shared/protocol.ts';
import type { Command, Queue } from '../context.ts';
import { resolveQueue } from './target.ts';

export const startServer: Command = {
  id: 'laneway.startServer',
  doing: 'start the server',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    await queue?.connect();
    return queue?.welcome?.server;
  },
};

export const restartServer: Command = {
  id: 'laneway.restartServer',
  doing: 'restart the server',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, argument);
    if (!queue) return undefined;
    if (queue.state === 'ready') {
      const force = (argument as { force?: unknown } | undefined)?.force === true || (await askForce(queue));
      if (force === undefined) return undefined;
      if (!(await stop(queue, force))) return undefined;
    }
    await queue.connect();
    return queue.welcome?.server;
  },
};

/** Whether to stop what runs; undefined when the person backed out. */
async function askForce(queue: Queue): Promise<boolean | undefined> {
  const running = queue.cache.counts?.running ?? 0;
  if (running === 0) return false;
  const wait = 'When They End';
  const now = 'Stop Them Now';
  const answer = await vscode.window.showWarningMessage(
    `Restart the server while ${sayCount(running, 'job')} run?`,
    { modal: true, detail: 'Stopped jobs are queued again and start over.' },
    wait,
    now,
  );
  return answer === undefined ? undefined : answer === now;
}

/** False when the person no longer waits: the server then ends on its own time. */
async function stop(queue: Queue, force: boolean): Promise<boolean> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: 'Restarting Laneway’s server',
    cancellable: true,
  };
  return await vscode.window.withProgress(options, async (_progress, token) => {
    const listening: vscode.Disposable[] = [];
    const ended = new Promise<boolean>((resolve) => {
      listening.push(
        queue.onDidChangeState((state) => {
          if (state !== 'ready') resolve(true);
        }),
        token.onCancellationRequested(() => resolve(false)),
      );
    });
    try {
      try {
        await queue.request(ServerStop, { force });
      } catch (error) {
        // Its end may overtake its answer.
        if (toErrorData(error).code !== 'ENVIRONMENT') throw error;
      }
      return await ended;
    } finally {
      for (const one of listening) one.dispose();
    }
  });
}
