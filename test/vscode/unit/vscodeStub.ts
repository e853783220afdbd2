/**
 * Lets modules that import `vscode` be loaded without an editor, so that tables such as the
 * command list can be read. Import this first; load the modules with `await import(…)` after.
 */
import { registerHooks } from 'node:module';

const SOURCE = `
class Thing { constructor(...args) { this.args = args; } }
export class ThemeIcon extends Thing {}
export class ThemeColor extends Thing {}
export class TreeItem extends Thing {}
export class EventEmitter extends Thing { event = () => ({ dispose() {} }); fire() {} dispose() {} }
export class Disposable extends Thing { dispose() {} }
export class CancellationError extends Error {}
export class MarkdownString extends Thing {}
export class Range extends Thing {}
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const QuickInputButtons = { Back: {} };
export const ProgressLocation = { Notification: 15, Window: 10 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ViewColumn = { Active: -1, Beside: -2 };
export const ColorThemeKind = { Light: 1, Dark: 2 };
export const TaskScope = { Global: 1, Workspace: 2 };
export const Uri = { file: (path) => ({ path }), joinPath: () => ({}), parse: () => ({}) };
export const window = {}, workspace = {}, commands = {}, env = {}, tasks = {}, languages = {}, extensions = {};
`;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'vscode') return next(specifier, context);
    return { url: 'stub:vscode', format: 'module', shortCircuit: true };
  },
  load(url, context, next) {
    return url === 'stub:vscode' ? { format: 'module', source: SOURCE, shortCircuit: true } : next(url, context);
  },
});
