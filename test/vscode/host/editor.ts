/** An editor that is started for a journey, with a sandbox of its own, and the windows opened in it. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { type BrowserProgram, launchBrowser } from './chromium.ts';
import { type CodeServer, QUIET_SETTINGS, startCodeServer } from './codeServer.ts';
import { ROOT } from './places.ts';
import { childrenOf } from './processes.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { messageOf, say } from './steps.ts';
import { EditorWindow, PATIENCE_MS } from './window.ts';

/** What journeys need to have been installed. */
export interface Programs {
  codeServer: string;
  chromium: BrowserProgram;
  /** Rewrite docs/images. */
  screenshots: boolean;
}

export interface EditorOptions {
  settings?: Record<string, unknown>;
  /** Leave workspace trust on, so that the folder opens restricted. */
  restricted?: boolean;
  /** Names of root folders that the window has besides the sandbox's own. */
  folders?: readonly string[];
  /** Files of a home folder that is the editor's own, e.g. `.bashrc`. */
  homeFiles?: Readonly<Record<string, string>>;
  /** Install this instead of loading the checkout. */
  vsix?: string;
}

/** An editor with its sandbox: one server, any number of windows on it. */
export class Editor {
  readonly sandbox: Sandbox;
  readonly #programs: Programs;
  readonly #server: CodeServer;
  readonly #browser: Browser;
  readonly #developed: boolean;
  readonly #folders: readonly string[];
  readonly windows: EditorWindow[] = [];

  /** Installs a VSIX in place of what is installed. */
  async install(vsix: string): Promise<void> {
    await this.#server.install(vsix);
  }

  /** Where installed extensions are, each in a folder of its version. */
  get extensionsFolder(): string {
    return path.join(this.#server.dataFolder, 'extensions');
  }

  /** Processes that run the windows' extensions. Linux only. */
  async extensionHosts(): Promise<number[]> {
    return await childrenOf(this.#server.pid, '--type=extensionHost');
  }

  /** What the extension hosts logged about errors nobody took, as far as they come from Laneway. */
  async strayErrors(): Promise<string[]> {
    const logs = path.join(this.#server.dataFolder, 'data/logs');
    const names = await readdir(logs, { recursive: true }).catch(() => []);
    const found = names.filter((name) => path.basename(name) === 'remoteexthost.log');
    const texts = await Promise.all(found.map((name) => readFile(path.join(logs, name), 'utf8')));
    // Entries begin with a time; a stack follows on lines of its own.
    return texts
      .join('\n')
      .split(/\n(?=\d{4}-\d\d-\d\d )/)
      .filter((entry) => /dist[\\/]extension\.js/.test(entry));
  }

  private constructor(
    programs: Programs,
    sandbox: Sandbox,
    server: CodeServer,
    browser: Browser,
    options: EditorOptions,
  ) {
    this.#programs = programs;
    this.sandbox = sandbox;
    this.#server = server;
    this.#browser = browser;
    this.#developed = options.vsix === undefined;
    this.#folders = options.folders ?? [];
  }

  static async start(programs: Programs, options: EditorOptions = {}): Promise<Editor> {
    const sandbox = await createSandbox('ui', options.homeFiles);
    try {
      const trust = options.restricted === true ? { 'security.workspace.trust.startupPrompt': 'never' } : TRUSTED;
      const server = await startCodeServer(programs.codeServer, {
        env: sandbox.env,
        settings: { ...QUIET_SETTINGS, ...trust, ...options.settings },
        vsix: options.vsix,
      });
      const browser = await launchBrowser(programs.chromium);
      return new Editor(programs, sandbox, server, browser, options);
    } catch (error) {
      await sandbox.remove();
      throw error;
    }
  }

  /** Opens the sandbox's folder, or folders, or another one of its, in a window with storage of its own. */
  async open(folder?: string): Promise<EditorWindow> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const query = new URLSearchParams(
      this.#folders.length === 0 || folder !== undefined
        ? { folder: folder ?? this.sandbox.workspace }
        : { workspace: await this.sandbox.multiRoot(this.#folders) },
    );
    const developed = `vscode-remote://${this.#server.authority}${ROOT}`;
    const payload = [['skipWelcome', 'true'], ...(this.#developed ? [['extensionDevelopmentPath', developed]] : [])];
    query.set('payload', JSON.stringify(payload));
    const window = new EditorWindow(page, this.#programs.screenshots);
    await window.load(`${this.#server.origin}/?${query}`);
    this.windows.push(window);
    return window;
  }

  /** Ends everything, whatever state it is in. */
  async close(): Promise<void> {
    await this.#browser.close().catch(() => undefined);
    await this.#server.stop().catch((error: unknown) => say(`the editor did not stop in order: ${messageOf(error)}`));
    await this.sandbox.remove();
  }
}

const TRUSTED = { 'security.workspace.trust.enabled': false };
