/** Commands that a workspace already knows: what was added before, its VS Code tasks, its npm scripts. */
import os from 'node:os';
import * as vscode from 'vscode';
import type { Queue } from '../context.ts';
import { type Execution, packageScripts, scriptRunner, taskCommand, type TaskCommand } from './taskCommand.ts';

const HISTORY = 'laneway.history';

/** Command lines added here before, the newest first. */
export function history(extension: vscode.ExtensionContext): string[] {
  return extension.workspaceState.get<string[]>(HISTORY, []);
}
export async function rememberHistory(extension: vscode.ExtensionContext, lines: string[]): Promise<void> {
  await extension.workspaceState.update(HISTORY, lines);
}

/** A task and how to get its command; getting it may refuse. */
export interface KnownTask {
  name: string;
  source: string;
  command(): TaskCommand;
}

/** The tasks that run in a queue's folder, Laneway's own left out. */
export async function tasks(queue: Queue): Promise<KnownTask[]> {
  const found = await vscode.tasks.fetchTasks();
  return found.filter((task) => belongs(task, queue)).map((task) => knownTask(task, queue));
}

function knownTask(task: vscode.Task, queue: Queue): KnownTask {
  const variables = { workspaceFolder: queue.root, userHome: os.homedir(), env: process.env };
  return {
    name: task.name,
    source: task.source,
    command: () => taskCommand(task.name, task.execution as Execution | undefined, variables),
  };
}

function belongs(task: vscode.Task, queue: Queue): boolean {
  if (task.definition.type === 'laneway') return false;
  const { scope } = task;
  if (scope === undefined || scope === vscode.TaskScope.Global || scope === vscode.TaskScope.Workspace) return true;
  return scope.uri.toString() === queue.folder.uri.toString();
}

/** The scripts of the folder's package.json, with the program that runs them. */
export async function scripts(queue: Queue): Promise<{ name: string; command: string; argv: string[] }[]> {
  const { uri } = queue.folder;
  try {
    const entries = await vscode.workspace.fs.readDirectory(uri);
    const files = entries.map(([name]) => name);
    if (!files.includes('package.json')) return [];
    const text = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(uri, 'package.json'));
    const runner = scriptRunner(files);
    return packageScripts(new TextDecoder().decode(text)).map((script) => ({
      ...script,
      argv: [runner, 'run', script.name],
    }));
  } catch {
    return [];
  }
}
