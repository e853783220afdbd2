/** What the extension-host tests share: the extension, its commands, waiting, jobs that do as told. */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Laneway, Queue } from '../../../client/vscode/context.ts';
import type { AddRequest, Job, Phase } from '../../../shared/job.ts';
import { List } from '../../../shared/protocol.ts';
import { waitFor } from '../../helpers/waitFor.ts';

interface Api {
  laneway: Laneway;
  activationMs: number;
}

/** The extension's API, activated. */
export async function extensionApi(): Promise<Api> {
  const extension = vscode.extensions.getExtension<Api>('laneway.laneway');
  assert.ok(extension, 'the extension is installed');
  return await extension.activate();
}

/** The queue of the open folder. */
export async function theQueue(): Promise<Queue> {
  const { laneway } = await extensionApi();
  const [queue] = laneway.queues();
  assert.ok(queue, 'the open folder has a queue');
  return queue;
}

export async function command<T>(id: string, ...args: unknown[]): Promise<T> {
  return await vscode.commands.executeCommand<T>(id, ...args);
}

/** Adds a job as another extension would. */
export async function add(request: AddRequest): Promise<Job> {
  const job = await command<Job | undefined>('laneway.addJob', request);
  assert.ok(job, 'laneway.addJob answers with the job');
  return job;
}

/** The job as the server has it. */
export async function jobNow(id: number): Promise<Job> {
  const { jobs } = await (await theQueue()).request(List, { ids: [id] });
  const [job] = jobs;
  assert.ok(job, `job ${id} exists`);
  return job;
}

/** Waits until a job stands in one of these states or phases. */
export async function become(id: number, ...wanted: Phase[]): Promise<Job> {
  return await waitFor(
    async () => {
      const job = await jobNow(id);
      return wanted.includes(job.state) || wanted.includes(job.phase) ? job : null;
    },
    { what: `job ${id} to become ${wanted.join(' or ')}` },
  );
}

export function workspaceFile(name: string): string {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder);
  return path.join(folder.uri.fsPath, name);
}

/** Lets jobs that wait for this file go on. */
export async function touch(name: string): Promise<void> {
  await writeFile(workspaceFile(name), '');
}
export async function untouch(name: string): Promise<void> {
  await rm(workspaceFile(name), { force: true });
}

/** Text of the channel or document whose URI contains this; null while none is open. */
export function textOf(part: string, scheme: string): string | null {
  const found = vscode.workspace.textDocuments.find(
    (document) => document.uri.scheme === scheme && decodeURIComponent(document.uri.toString()).includes(part),
  );
  return found?.getText() ?? null;
}
