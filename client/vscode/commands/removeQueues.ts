/**
 * `laneway.removeQueues`: delete the queues, with their logs, of folders that are gone. Called
 * with `{paths}` it deletes just those without asking. Returns the paths whose queues went.
 */
import * as vscode from 'vscode';
import { sayCount } from '../../../shared/format.ts';
import type { Workspace } from '../../../shared/job.ts';
import { askCli, type Cli } from '../cli.ts';
import type { Command } from '../context.ts';
import { withoutIcons } from '../messages/plainText.ts';
import { thisRuntime } from '../runtime.ts';

export const removeQueues: Command = {
  id: 'laneway.removeQueues',
  doing: 'delete the queues',
  async run(laneway, argument) {
    const cli: Cli = {
      extensionPath: laneway.extension.extensionPath,
      runtime: thisRuntime(),
      env: process.env,
    };
    const given = (argument as { paths?: unknown } | null | undefined)?.paths;
    const paths = Array.isArray(given) ? given.filter((each) => typeof each === 'string') : await ask(cli);
    if (!paths) return undefined;
    const options = { location: vscode.ProgressLocation.Window, title: 'Deleting queues' };
    return await vscode.window.withProgress(options, async () => {
      for (const path of paths) await askCli(cli, ['workspaces', 'remove', path, '--yes']);
      return paths;
    });
  },
};

/** The chosen ones of those that are gone; undefined when there are none or the person backed out. */
async function ask(cli: Cli): Promise<string[] | undefined> {
  const { workspaces } = (await askCli(cli, ['workspaces'])) as { workspaces: Workspace[] };
  const gone = workspaces.filter(({ state }) => state === 'missing');
  if (gone.length === 0) {
    void vscode.window.showInformationMessage('Every queue’s folder is still there; nothing to delete.');
    return undefined;
  }
  const items = gone.map(({ path, counts }) => ({
    label: withoutIcons(path),
    description:
      counts === null
        ? ''
        : sayCount(
            Object.values(counts).reduce((sum, each) => sum + each, 0),
            'job',
          ),
    path,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: 'Delete the queues of folders that are gone',
    placeHolder: 'A folder that was moved? lane workspaces move OLD NEW brings its queue along.',
    canPickMany: true,
  });
  if (!picked || picked.length === 0) return undefined;
  const what = `Delete ${sayCount(picked.length, 'queue')} with all jobs and logs?`;
  const detail = `${picked.map(({ path }) => path).join('\n')}\n\nThis cannot be undone.`;
  const yes = await vscode.window.showWarningMessage(what, { modal: true, detail }, 'Delete');
  return yes === 'Delete' ? picked.map(({ path }) => path) : undefined;
}
