/** `laneway.addFromTask`: choose a VS Code task and add what it runs. Takes the task's name, too. */
import * as vscode from 'vscode';
import { LanewayError } from '../../../shared/errors.ts';
import { readTyped } from '../addJob/jobForm.ts';
import { type KnownTask, tasks } from '../addJob/sources.ts';
import { addJob as add } from '../addJob/add.ts';
import type { Command } from '../context.ts';
import { withoutIcons } from '../messages/plainText.ts';
import { askAndAdd } from './addJob.ts';
import { resolveQueue } from './target.ts';

export const addFromTask: Command = {
  id: 'laneway.addFromTask',
  doing: 'add the task',
  async run(laneway, argument) {
    const queue = await resolveQueue(laneway, typeof argument === 'string' ? undefined : argument);
    if (!queue) return undefined;
    const found = await tasks(queue);
    if (found.length === 0) {
      throw new LanewayError('NOT_FOUND', 'this folder has no tasks', 'Describe some in .vscode/tasks.json.');
    }
    const task = typeof argument === 'string' ? named(found, argument) : await choose(found);
    if (!task) return undefined;
    const { argv, line, cwd, env } = task.command();
    const words = argv ?? readTyped(line ?? '', process.platform, process.env['ComSpec'])?.argv;
    if (!words) throw new LanewayError('INVALID_INPUT', `the task "${task.name}" has an empty command`);
    const form = { argv: words, cwd, env, label: task.name };
    if (typeof argument === 'string') return await add(laneway, queue, form);
    return await askAndAdd(laneway, { queue }, { form, settled: true });
  },
};

function named(found: KnownTask[], name: string): KnownTask {
  const task = found.find((known) => known.name === name);
  if (task) return task;
  throw new LanewayError('NOT_FOUND', `there is no task "${name}" in this folder`, 'Choose one from the list.');
}

async function choose(found: KnownTask[]): Promise<KnownTask | undefined> {
  const items = found.map((task) => ({ label: withoutIcons(task.name), description: task.source, task }));
  return (await vscode.window.showQuickPick(items, { title: 'Add which task?', matchOnDescription: true }))?.task;
}
