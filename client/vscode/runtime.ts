/**
 * How this editor starts Laneway's own programs, decided without effects: the server and the
 * CLI run on the editor's runtime (Electron told to be Node, or the remote's Node), so that
 * nothing has to be installed. Also: which environment a job added from here gets.
 */
import path from 'node:path';
import { LanewayError } from '../../shared/errors.ts';
import { OLDEST_NODE } from '../../shared/limits.ts';

export interface Runtime {
  /** Path of the program to run bundles with. */
  execPath: string;
  /** Version of Node inside it, e.g. `22.15.1`. */
  node: string;
  /** Whether it is Electron, which must be told to be Node. */
  electron: boolean;
}

/** The runtime this process runs on. */
export function thisRuntime(): Runtime {
  return {
    execPath: process.execPath,
    node: process.versions.node,
    electron: process.versions['electron'] !== undefined,
  };
}

/**
 * The environment of Laneway's own programs.
 * @throws ENVIRONMENT when the runtime is too old to run them.
 */
export function runtimeEnv(runtime: Runtime, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const major = Number.parseInt(runtime.node, 10);
  if (!(major >= OLDEST_NODE)) {
    throw new LanewayError(
      'ENVIRONMENT',
      `this editor runs on Node ${runtime.node}, and Laneway needs ${OLDEST_NODE} or newer`,
      'Update the editor (VS Code 1.101 or later).',
    );
  }
  const clean: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isEditorInternal(name)) clean[name] = value;
  }
  const nodeOptions = ownNodeOptions(env['NODE_OPTIONS']);
  if (nodeOptions === '') delete clean['NODE_OPTIONS'];
  else clean['NODE_OPTIONS'] = nodeOptions;
  if (runtime.electron) clean['ELECTRON_RUN_AS_NODE'] = '1';
  return clean;
}

/** What a job added from this window inherits: the editor's environment without the editor's own business. */
export function callerEnv(env: NodeJS.ProcessEnv): Record<string, string> {
  const caller: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isEditorInternal(name)) continue;
    if ((name === 'GIT_ASKPASS' || name === 'SSH_ASKPASS') && /[\\/]extensions[\\/]git[\\/]/.test(value)) continue;
    caller[name] = value;
  }
  const nodeOptions = ownNodeOptions(env['NODE_OPTIONS']);
  if (nodeOptions === '') delete caller['NODE_OPTIONS'];
  else caller['NODE_OPTIONS'] = nodeOptions;
  return caller;
}

function isEditorInternal(name: string): boolean {
  return /^(?:ELECTRON_|VSCODE_)/.test(name) || name === 'CHROME_DESKTOP' || name === 'ORIGINAL_XDG_CURRENT_DESKTOP';
}

/** NODE_OPTIONS without what an editor's debugger injected; empty when nothing is left. */
function ownNodeOptions(options: string | undefined): string {
  return (options ?? '')
    .replace(/(?:^|\s)(?:--require|-r)[=\s]+(?:"[^"]*"|\S+)/g, (match) =>
      /ms-vscode|js-debug|vscode/i.test(match) ? '' : match,
    )
    .replace(/(?:^|\s)--inspect-publish-uid=\S+/g, '')
    .trim();
}

/** Where the bundles of an installed extension are. */
export function bundles(extensionPath: string): { server: string; cli: string } {
  return { server: path.join(extensionPath, 'dist', 'server.js'), cli: path.join(extensionPath, 'dist', 'cli.js') };
}
