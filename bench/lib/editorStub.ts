/**
 * An editor that does nothing, so that what is measured is the extension's own work. Everything it is
 * asked for is a function that answers with another such; only events and texts are real. Import this first.
 */
import { registerHooks } from 'node:module';

type Listener = (value: unknown) => void;

class EventEmitter {
  readonly #listeners = new Set<Listener>();
  readonly event = (listener: Listener) => {
    this.#listeners.add(listener);
    return { dispose: () => void this.#listeners.delete(listener) };
  };
  fire(value: unknown): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

class Thing {
  readonly args: unknown[];
  constructor(...args: unknown[]) {
    this.args = args;
  }
  dispose(): void {
    this.args.length = 0;
  }
}

class MarkdownString {
  value = '';
  appendMarkdown(text: string): this {
    this.value += text;
    return this;
  }
  appendText(text: string): this {
    return this.appendMarkdown(text.replaceAll(/[\\`*_{}[\]()#+\-!~]/g, String.raw`\$&`));
  }
  appendCodeblock(text: string): this {
    return this.appendMarkdown(`\n\`\`\`\n${text}\n\`\`\`\n`);
  }
}

/** Answers everything with itself; is no promise, and no iterable. */
const anything: object = new Proxy(function answer() {}, {
  get: (_target, name) => (name === 'then' || typeof name === 'symbol' ? undefined : anything),
  apply: () => anything,
  construct: () => anything,
  set: () => true,
});

/** `known` answers first, something that does nothing for the rest. */
export function mostly(known: Record<string, unknown>): object {
  return new Proxy(known, {
    get: (target, name) => (typeof name === 'string' && name in target ? target[name] : anything),
  });
}

const folder = process.env['LANEWAY_BENCH_FOLDER'] ?? '/';
const uri = { scheme: 'file', path: folder, fsPath: folder, toString: () => `file://${folder}` };
const EDITOR: Record<string, unknown> = {
  EventEmitter,
  Disposable: Thing,
  CancellationError: class extends Error {},
  ThemeIcon: Thing,
  ThemeColor: Thing,
  TreeItem: Thing,
  MarkdownString,
  Range: Thing,
  Task: Thing,
  CustomExecution: Thing,
  ShellExecution: Thing,
  CancellationTokenSource: Thing,
  TreeItemCollapsibleState: { None: 0, Collapsed: 1, Expanded: 2 },
  QuickPickItemKind: { Separator: -1, Default: 0 },
  workspace: mostly({ isTrusted: true, workspaceFolders: [{ uri, name: 'project', index: 0 }] }),
};
for (const name of [
  'window commands env tasks languages extensions Uri ProgressLocation StatusBarAlignment ViewColumn',
  'ColorThemeKind TaskScope TaskGroup TaskRevealKind TaskPanelKind QuickInputButtons ConfigurationTarget version',
  'CodeAction CodeLens CompletionItem DocumentLink Diagnostic CallHierarchyItem TypeHierarchyItem SymbolInformation',
  'InlayHint CodeActionKind DiagnosticSeverity Position Location LogLevel ExtensionMode UIKind EndOfLine',
]
  .join(' ')
  .split(' ')) {
  EDITOR[name] ??= anything;
}

const KEY = 'lanewayBenchEditor';
Object.assign(globalThis, { [KEY]: EDITOR });
const SOURCE = `const editor = globalThis.${KEY};
${Object.keys(EDITOR)
  .map((name) => `export const ${name} = editor.${name};`)
  .join('\n')}`;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'vscode') return next(specifier, context);
    return { url: 'stub:vscode', format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    return url === 'stub:vscode' ? { format: 'module', source: SOURCE, shortCircuit: true } : next(url, context);
  },
});
