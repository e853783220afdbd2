/**
 * A window of the editor as a person has it: driven by keys and clicks, read by what stands on
 * the screen. Everything waits for a condition with a deadline of its own; what the editor may
 * swallow while it loads (a key, a click) is done again until its effect is seen.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Frame, Locator, Page } from 'playwright-core';
import { ROOT } from './places.ts';
import { messageOf, say } from './steps.ts';

/** Milliseconds for anything to appear: CI machines are slow and shared. */
export const PATIENCE_MS = 90_000;
/** Milliseconds after which an action without effect is done again. */
const AGAIN_MS = 8000;

/** Runs in the page: the editor saves when it loses the focus, into databases of the browser. */
async function isSaved(pattern: string): Promise<boolean> {
  for (const [focused, event] of [
    [true, 'focus'],
    [false, 'blur'],
  ] as const) {
    document.hasFocus = () => focused;
    window.dispatchEvent(new Event(event));
  }
  const asked = async <T>(request: IDBRequest<T>): Promise<T> =>
    await new Promise((resolve, reject) => {
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(request.error ?? new Error('not opened')));
    });
  for (const { name } of await indexedDB.databases()) {
    const database = await asked(indexedDB.open(name ?? ''));
    try {
      for (const store of database.objectStoreNames) {
        const values: unknown[] = await asked(database.transaction(store).objectStore(store).getAll());
        if (values.some((value) => typeof value === 'string' && new RegExp(pattern).test(value))) return true;
      }
    } finally {
      database.close();
    }
  }
  return false;
}

export class EditorWindow {
  readonly page: Page;
  readonly #screenshots: boolean;
  readonly console: string[] = [];

  constructor(page: Page, screenshots: boolean) {
    this.page = page;
    this.#screenshots = screenshots;
    page.on('console', (message) => {
      this.console.push(message.text());
      if (this.console.length > 200) this.console.shift();
    });
  }

  /** Loads the workbench, once more when it does not come up. */
  async load(url: string): Promise<void> {
    for (let nth = 1; ; nth += 1) {
      try {
        await this.page.goto(url, { timeout: 120_000, waitUntil: 'commit' });
        await this.#ready();
        return;
      } catch (error) {
        if (nth === 2) throw error;
        say(`the window did not come up: ${messageOf(error).split('\n')[0]}; loading it again`);
      }
    }
  }

  /** What a person does with "Developer: Reload Window". */
  async reload(): Promise<void> {
    await this.page.reload({ timeout: 120_000, waitUntil: 'commit' });
    await this.#ready();
  }

  /** Waits until the editor has written down, for the next time, something like this. */
  async saved(text: RegExp): Promise<void> {
    await this.until(`${text} to be saved`, async () => await this.page.evaluate(isSaved, text.source));
  }

  async #ready(): Promise<void> {
    await this.page.locator('.monaco-workbench').waitFor({ timeout: 120_000 });
    await this.page.locator('.activitybar .action-item').first().waitFor({ timeout: 120_000 });
    await this.page.locator('.statusbar-item').first().waitFor({ timeout: 120_000 });
  }

  /** Shows Laneway's views by a click on its icon. */
  async openViews(): Promise<void> {
    const item = this.page.locator('.activitybar .action-item', { has: this.page.locator('[aria-label^="Laneway"]') });
    await item.first().waitFor();
    const header = this.page.locator('.sidebar .pane-header[aria-label^="Lanes"]');
    let tries = 0;
    await this.until('the Laneway views', async () => {
      if (await header.isVisible()) return true;
      tries += 1;
      // A click on the icon of what is shown already would hide it again.
      const chosen = /\bchecked\b/.test((await item.first().getAttribute('class', { timeout: 2000 })) ?? '');
      // The whole entry: a badge lies over its icon. Where that does not help, without looking what lies over it.
      if (!chosen || tries > 3) await item.first().click({ timeout: AGAIN_MS, force: tries % 2 === 0 });
      return await header.waitFor({ timeout: AGAIN_MS }).then(
        () => true,
        () => false,
      );
    });
  }

  /** Does something by its name in the command palette. */
  async command(title: string): Promise<void> {
    const row = this.#row(title);
    await this.until(`the command "${title}"`, async () => {
      await this.#openQuickInput();
      await this.#quickText().fill(`>${title}`, { timeout: AGAIN_MS });
      await row.click({ timeout: AGAIN_MS });
      return true;
    });
  }

  /** Types into the quick input that is open; accepts once an entry that contains `offered` stands first. */
  async answer(text: string, offered: string = text): Promise<void> {
    const first = this.#quick().locator('.monaco-list-row').first();
    await this.until(`"${offered}" to choose`, async () => {
      await this.#quickText().fill(text, { timeout: AGAIN_MS });
      return ((await first.textContent({ timeout: AGAIN_MS })) ?? '').includes(offered);
    });
    await this.#quickText().press('Enter');
  }

  /** Waits until the open quick input asks this. */
  async asked(placeholder: string): Promise<void> {
    await this.#quick().locator(`input[placeholder^="${placeholder}"]`).waitFor();
  }

  /** Takes the entry of the open quick pick that contains this. */
  async pick(label: string): Promise<void> {
    await this.#entry(label).click();
  }

  /** Ticks the entry that contains this, where several may be chosen, and accepts. */
  async tick(label: string): Promise<void> {
    const entry = this.#entry(label);
    const chosen = this.#quick().locator('.quick-input-count');
    await this.until(`${label} to be ticked`, async () => {
      if ((await chosen.textContent({ timeout: 1000 }))?.startsWith('1 ') === true) return true;
      await entry.click({ timeout: AGAIN_MS });
      return false;
    });
    await this.#quickText().press('Enter');
  }

  /** Title, placeholder and entries of the open quick input. */
  async quickInput(): Promise<string> {
    return (await this.#quick().textContent({ timeout: 1000 })) ?? '';
  }

  /** The texts of a tree's rows in sight, as a screen reader would read them. */
  async rows(view: string): Promise<string[]> {
    const rows = this.#pane(view).locator('.monaco-list-row');
    return await rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? row.textContent ?? ''));
  }

  /** Waits for a row of a tree. */
  async row(view: string, text: RegExp): Promise<Locator> {
    return await this.until(`a row ${text} in ${view}`, async () => {
      const all = this.#pane(view).locator('.monaco-list-row');
      const texts = await this.rows(view);
      const at = texts.findIndex((each) => text.test(each));
      return at === -1 ? null : all.nth(at);
    });
  }

  /** Unfolds a row; does nothing when it is. */
  async unfold(view: string, text: RegExp): Promise<void> {
    await this.until(`${text} unfolded`, async () => {
      const row = await this.row(view, text);
      if ((await row.getAttribute('aria-expanded', { timeout: 2000 })) === 'true') return true;
      await row.locator('.monaco-tl-twistie').click({ timeout: AGAIN_MS });
      return false;
    });
  }

  /** Chooses the entry that contains this in the menu of a row. */
  async menu(view: string, row: RegExp, entry: string): Promise<void> {
    const chosen = this.page.locator('.context-view .action-label', { hasText: entry }).first();
    let clicked = false;
    // A menu takes no click in its first moments: it is clicked until it is gone.
    await this.until(`"${entry}" in the menu of ${row}`, async () => {
      if (!(await chosen.isVisible())) {
        if (clicked) return true;
        await (await this.row(view, row)).click({ button: 'right', timeout: AGAIN_MS });
      }
      await chosen.click({ timeout: AGAIN_MS });
      clicked = true;
      return false;
    });
  }

  /** Clicks a row until the output panel shows text like this. */
  async openLog(view: string, row: RegExp, text: RegExp): Promise<void> {
    await this.until(`a log like ${text}`, async () => {
      await (await this.row(view, row)).click({ timeout: AGAIN_MS });
      const end = performance.now() + AGAIN_MS;
      while (performance.now() < end) {
        if (text.test(await this.lines('panel'))) return true;
        await this.#moment();
      }
      return false;
    });
  }

  /** The lines in sight of the output panel or of the open editor. */
  async lines(where: 'panel' | 'editor'): Promise<string> {
    const part = where === 'panel' ? '.part.panel .view-lines' : '.part.editor .view-lines';
    const lines = this.page.locator(`${part} .view-line`);
    // Editors place their lines absolutely, in any order of the document.
    const texts = await lines.evaluateAll((all) =>
      all
        .map((line) => ({ top: Number.parseFloat((line as HTMLElement).style.top), text: line.textContent ?? '' }))
        .sort((a, b) => a.top - b.top)
        .map(({ text }) => text),
    );
    return texts.join('\n').replaceAll('\u00a0', ' ');
  }

  /** The page inside a webview, once an element of it is there. */
  async webview(element: string): Promise<Frame> {
    return await this.until(`a webview with ${element}`, async () => {
      for (const frame of this.page.frames()) {
        if ((await frame.locator(element).count()) > 0) return frame;
      }
      return null;
    });
  }

  /** Everything that stands in the side bar. */
  async sideBar(): Promise<string> {
    return await this.page.locator('.sidebar').innerText({ timeout: 2000 });
  }

  /** What the status bar's item of Laneway says to a screen reader. */
  async statusItem(): Promise<string> {
    const item = this.page.locator('.part.statusbar [id="laneway.laneway.laneway.status"] [aria-label]').first();
    return (await item.getAttribute('aria-label', { timeout: 2000 })) ?? '';
  }

  /** The texts of all messages, the hidden ones too. */
  async messages(): Promise<string> {
    const center = this.page.locator('.notifications-center');
    if (!(await center.isVisible())) await this.command('Notifications: Show Notifications');
    return await center.innerText({ timeout: AGAIN_MS });
  }

  /** Clicks a button of a message. */
  async press(button: string): Promise<void> {
    const found = this.page.locator('.notifications-center .monaco-button', { hasText: button }).first();
    await this.until(`the button "${button}"`, async () => {
      await this.messages();
      await found.click({ timeout: AGAIN_MS });
      return true;
    });
  }

  /** Waits until nothing in the side bar moves to say that it is busy. */
  async idle(): Promise<void> {
    await this.until('the progress to end', async () => {
      return (await this.page.locator('.sidebar .monaco-progress-container.active').count()) === 0;
    });
  }

  async statusBar(): Promise<string> {
    return (await this.page.locator('.part.statusbar').textContent()) ?? '';
  }

  /** Puts a picture into docs/images when asked to. */
  async screenshot(name: string): Promise<void> {
    if (!this.#screenshots) return;
    const folder = path.join(ROOT, 'docs/images');
    await mkdir(folder, { recursive: true });
    await this.page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
  }

  /**
   * Evaluates until it gives something truthy; whatever it throws meanwhile is only kept for the text of the failure.
   */
  async until<T>(what: string, condition: () => Promise<T>): Promise<NonNullable<T>> {
    const end = performance.now() + PATIENCE_MS;
    let last: unknown;
    for (;;) {
      try {
        const value = await condition();
        if (value) return value;
        last = value;
      } catch (error) {
        last = messageOf(error).split('\n')[0];
      }
      if (performance.now() > end) {
        const seen = await this.page
          .locator('body')
          .innerText({ timeout: 5000 })
          .catch(() => '');
        throw new Error(
          `waited ${PATIENCE_MS / 1000} s for ${what}; last: ${String(last)}\nthe window showed:\n${seen.slice(0, 3000)}`,
        );
      }
      await this.#moment();
    }
  }

  /** Lets the window draw before it is looked at again. */
  async #moment(): Promise<void> {
    await this.page.evaluate(() => new Promise((resolve) => void setTimeout(resolve, 50)));
  }

  async #openQuickInput(): Promise<void> {
    if (await this.#quick().isVisible()) await this.page.keyboard.press('Escape');
    await this.page.keyboard.press('F1');
    await this.#quickText().waitFor({ timeout: AGAIN_MS });
  }

  #quick(): Locator {
    return this.page.locator('.quick-input-widget');
  }
  #quickText(): Locator {
    return this.#quick().locator('.quick-input-box input').first();
  }
  #row(label: string): Locator {
    const quoted = label.replaceAll('"', String.raw`\"`);
    return this.#quick().locator(`.monaco-list-row[aria-label^="${quoted}"]`).first();
  }
  #entry(text: string): Locator {
    return this.#quick().locator('.monaco-list-row', { hasText: text }).first();
  }
  #pane(view: string): Locator {
    return this.page.locator('.sidebar .pane', { has: this.page.locator(`.pane-header[aria-label^="${view}"]`) });
  }
}
