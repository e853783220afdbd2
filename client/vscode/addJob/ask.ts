/**
 * One question of a flow with Back: a quick pick or an input box that answers with what was
 * chosen, that the person went back, or that they pressed the gear. Dismissing throws
 * `CancellationError`, which ends the flow without a message.
 */
import * as vscode from 'vscode';

export type Answer<T> = { kind: 'chosen'; value: T } | { kind: 'back' } | { kind: 'gear'; typed: string };

export interface Choice<T> extends vscode.QuickPickItem {
  /** Absent on separators. */
  value?: T;
}

export interface PickQuestion<T> {
  title: string;
  /** Of the flow's two; null for a question on the side. */
  step: number | null;
  placeholder: string;
  /** Prefilled text. */
  typed?: string;
  back: boolean;
  gear: boolean;
  /** What to offer for what is typed. Throwing shows the message instead. */
  items(typed: string): Choice<T>[];
  /** More items that take time; appended when they arrive. */
  later?: Promise<Choice<T>[]>;
}

const GEAR: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('settings-gear'), tooltip: 'More options' };

/** Ask with a quick pick. @throws CancellationError when dismissed */
export async function askPick<T>(question: PickQuestion<T>): Promise<Answer<T>> {
  const pick = vscode.window.createQuickPick<Choice<T>>();
  const resources: vscode.Disposable[] = [pick];
  let late: Choice<T>[] = [];
  pick.title = question.title;
  if (question.step !== null) {
    pick.step = question.step;
    pick.totalSteps = 2;
  }
  pick.placeholder = question.placeholder;
  pick.value = question.typed ?? '';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.buttons = [...(question.back ? [vscode.QuickInputButtons.Back] : []), ...(question.gear ? [GEAR] : [])];
  const show = (): void => {
    pick.items = [...question.items(pick.value), ...late];
  };
  show();
  try {
    return await new Promise<Answer<T>>((resolve, reject) => {
      resources.push(
        pick.onDidChangeValue(show),
        pick.onDidAccept(() => {
          const chosen = pick.selectedItems[0];
          if (chosen && 'value' in chosen) resolve({ kind: 'chosen', value: chosen.value as T });
        }),
        pick.onDidTriggerButton((button) => {
          resolve(button === GEAR ? { kind: 'gear', typed: pick.value } : { kind: 'back' });
        }),
        pick.onDidHide(() => reject(new vscode.CancellationError())),
      );
      if (question.later) {
        pick.busy = true;
        question.later.then(
          (items) => {
            late = items;
            pick.busy = false;
            show();
          },
          () => (pick.busy = false),
        );
      }
      pick.show();
    });
  } finally {
    for (const resource of resources) resource.dispose();
  }
}

export interface TextQuestion {
  title: string;
  prompt: string;
  value: string;
  /** Why a text does not do; null when it does. */
  problem(text: string): string | null;
}

/** Ask for a text; null when the person went back. @throws CancellationError when dismissed */
export async function askText(question: TextQuestion): Promise<string | null> {
  const input = vscode.window.createInputBox();
  const resources: vscode.Disposable[] = [input];
  input.title = question.title;
  input.prompt = question.prompt;
  input.value = question.value;
  input.buttons = [vscode.QuickInputButtons.Back];
  try {
    return await new Promise<string | null>((resolve, reject) => {
      resources.push(
        input.onDidChangeValue((text) => (input.validationMessage = question.problem(text) ?? undefined)),
        input.onDidAccept(() => {
          const wrong = question.problem(input.value);
          if (wrong === null) resolve(input.value.trim());
          else input.validationMessage = wrong;
        }),
        input.onDidTriggerButton(() => resolve(null)),
        input.onDidHide(() => reject(new vscode.CancellationError())),
      );
      input.show();
    });
  } finally {
    for (const resource of resources) resource.dispose();
  }
}
