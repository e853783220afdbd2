/** A node's description as the editor's tree item. The only place where the trees' looks meet `vscode`. */
import * as vscode from 'vscode';
import type { Icon } from './icons.ts';
import type { Rows, Shown } from './describe.ts';
import type { Node } from './nodes.ts';

const FOLD = {
  none: vscode.TreeItemCollapsibleState.None,
  collapsed: vscode.TreeItemCollapsibleState.Collapsed,
  expanded: vscode.TreeItemCollapsibleState.Expanded,
} as const;

const icons = new Map<string, vscode.ThemeIcon>();

/** One object per icon, however many nodes have it. */
function themeIcon({ id, color }: Icon): vscode.ThemeIcon {
  const key = `${id} ${color}`;
  let icon = icons.get(key);
  if (!icon) {
    icon = new vscode.ThemeIcon(id, color === null ? undefined : new vscode.ThemeColor(color));
    icons.set(key, icon);
  }
  return icon;
}

/** The item of a node, but for its tooltip: the editor asks for that when somebody points at it. */
export function treeItem(node: Node, shown: Shown): vscode.TreeItem {
  const item = new vscode.TreeItem(shown.label, FOLD[shown.fold]);
  item.id = node.id;
  item.description = shown.description;
  item.contextValue = shown.words.join(' ');
  item.accessibilityInformation = { label: shown.spoken, role: 'treeitem' };
  if (shown.icon) item.iconPath = themeIcon(shown.icon);
  if (shown.command) item.command = { command: shown.command.id, title: shown.command.title, arguments: [node] };
  return item;
}

/** A command as code, between fences that it cannot close. */
function codeBlock(command: string): string {
  const longest = Math.max(2, ...[...command.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}shellscript\n${command}\n${fence}\n`;
}

/** Rows as text that no command line can turn into markup. */
export function tooltip(rows: Rows): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  for (const [name, value] of rows) {
    text.appendMarkdown('**').appendText(name).appendMarkdown('**&nbsp;&nbsp;');
    if (name === 'Command') text.appendMarkdown(codeBlock(value));
    else text.appendText(value).appendMarkdown('  \n');
  }
  return text;
}
