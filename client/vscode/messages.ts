/** Messages with buttons. None is awaited by who tells it: a notification left open holds up nothing. */
import * as vscode from 'vscode';
import { type ErrorData, toErrorData } from '../../shared/errors.ts';
import { failureText, type NextStep, nextSteps } from './failure.ts';

/** Several may wait for one connection: its failure is told to the person once. */
const told = new WeakSet<object>();

/** Tell a failure with its next steps, and log its cause. `doing` completes "Laneway could not …". */
export function tellFailure(log: vscode.LogOutputChannel, doing: string, error: unknown): void {
  const data: ErrorData = toErrorData(error);
  log.error(`could not ${doing}: ${data.code} ${data.message}`);
  if (error instanceof Error && error.stack && data.code === 'INTERNAL') log.debug(error.stack);
  if (typeof error === 'object' && error !== null) {
    if (told.has(error)) return;
    told.add(error);
  }
  tell('error', failureText(doing, data), nextSteps(data.code));
}

/** Show a message; a click on a button runs its command. */
export function tell(kind: 'error' | 'warning' | 'information', text: string, steps: readonly NextStep[]): void {
  const show = {
    error: vscode.window.showErrorMessage,
    warning: vscode.window.showWarningMessage,
    information: vscode.window.showInformationMessage,
  }[kind];
  const titles = steps.map((step) => step.title);
  void show(text, ...titles).then(async (chosen) => {
    const step = steps.find(({ title }) => title === chosen);
    if (step) await vscode.commands.executeCommand(step.command, ...(step.arguments ?? []));
  });
}
