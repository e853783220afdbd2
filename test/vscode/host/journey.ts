/** A journey: one test through the window of an editor that is started for it and ended after it. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { ROOT } from './places.ts';
import { say } from './steps.ts';
import { Editor, type EditorOptions, type Programs } from './editor.ts';
import type { EditorWindow } from './window.ts';

let programs: Programs | null = null;

/** Called once by the runner, before the journeys are loaded. */
export function usePrograms(found: Programs): void {
  programs = found;
}

/** Whether docs/images are to be made anew. */
export function picturesWanted(): boolean {
  return programs?.screenshots === true;
}

/** Defines a test whose body gets an open window. What the window showed is kept when it fails. */
export function journey(
  title: string,
  options: EditorOptions | (() => Promise<EditorOptions>),
  body: (window: EditorWindow, editor: Editor) => Promise<void>,
): void {
  it(title, async () => {
    if (programs === null) throw new Error('journeys are run by test/vscode/host/main.ts ui');
    const editor = await Editor.start(programs, typeof options === 'function' ? await options() : options);
    try {
      await body(await editor.open(), editor);
      assert.deepEqual(await editor.strayErrors(), [], 'no error of the extension was left for the editor to catch');
    } catch (error) {
      await keepPictures(title, editor);
      throw error;
    } finally {
      await editor.close();
    }
  });
}

async function keepPictures(title: string, editor: Editor): Promise<void> {
  const folder = path.join(ROOT, '.build/journeys');
  await mkdir(folder, { recursive: true });
  for (const [nth, window] of editor.windows.entries()) {
    const file = path.join(folder, `${title.replace(/[^a-z0-9]+/gi, '-')}-${nth + 1}.png`);
    await window.page.screenshot({ path: file, timeout: 15_000 }).then(
      () => say(`the window at the failure: ${path.relative(ROOT, file)}`),
      () => undefined,
    );
  }
}
