/** Messages with buttons. None is awaited by who tells it: a notification left open holds up nothing. */
import * as vscode from 'vscode';
import { type ErrorData, toErrorData } from '../../../shared/errors.ts';
import { aimed, failureText, Guided, type NextStep, nextSteps } from './failure.ts';
import { withoutLinks } from './plainText.ts';

/** Several may wait for one connection: its failure is told to the person once. */
const told = new WeakSet<object>();
/** The queue a failure is about, so that its buttons need not ask which folder. */
const about = new WeakMap<object, unknown>();

/** Remember which queue a failure is about. Returns the error. */
export function blame(error: unknown, queue: unknown): unknown {
  if (typeof error === 'object' && error !== null && !about.has(error)) about.set(error, queue);
  return error;
}

/** Tell a failure with its next steps, and log its cause. `doing` completes "Laneway could not …". */
export function tellFailure(log: vscode.LogOutputChannel, doing: string, error: unknown): void {
  const data: ErrorData = toErrorData(error);
  log.error(`could not ${doing}: ${data.code} ${data.message}`);
  if (error instanceof Error && error.stack && data.code === 'INTERNAL') log.debug(error.stack);
  let queue: unknown;
  if (typeof error === 'object' && error !== null) {
    if (told.has(error)) return;
    told.add(error);
    queue = about.get(error);
  }
  const steps = error instanceof Guided ? error.steps : nextSteps(data.code);
  tell('error', failureText(doing, data), aimed(steps, queue === undefined ? undefined : { queue }));
}

/** Show a message; a click on a button runs its command. What the text quotes is no markup. */
export function tell(kind: 'error' | 'warning' | 'information', text: string, steps: readonly NextStep[]): void {
  const show = {
    error: vscode.window.showErrorMessage,
    warning: vscode.window.showWarningMessage,
    information: vscode.window.showInformationMessage,
  }[kind];
  const titles = steps.map((step) => step.title);
  const run = async (chosen: string | undefined): Promise<void> => {
    const step = steps.find(({ title }) => title === chosen);
    if (step) await vscode.commands.executeCommand(step.command, ...(step.arguments ?? []));
  };
  // A command of the editor's that does not exist here, or a window that closes, is nobody's failure.
  show(withoutLinks(text), ...titles)
    .then(run)
    .then(undefined, () => undefined);
}
