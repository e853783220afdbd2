/**
 * A VS Code task or an npm script as a command for a job. Pure, over the shapes that the task
 * API gives, so that every kind of quoting can be tested without an editor.
 */
import { LanewayError } from '../../../shared/errors.ts';
import { quoteArgv } from '../../../shared/shell.ts';

interface Quoted {
  value: string;
}
/** What of a task's execution matters here: `vscode.ShellExecution` and `ProcessExecution` fit. */
export interface Execution {
  commandLine?: string | undefined;
  command?: string | Quoted | undefined;
  args?: readonly (string | Quoted)[] | undefined;
  process?: string | undefined;
  options?: { cwd?: string | undefined; env?: Record<string, string> | undefined } | undefined;
}
export interface TaskCommand {
  /** Either a process's argv or a shell's text. */
  argv: string[] | null;
  line: string | null;
  cwd: string | null;
  env: Record<string, string> | null;
}

/** Where `${…}` in tasks gets its values. */
export interface Variables {
  workspaceFolder: string;
  userHome: string;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * The command of a task, its `${…}` filled in.
 * @throws INVALID_INPUT for a task that runs no command, or needs the editor to fill something in.
 */
export function taskCommand(name: string, execution: Execution | undefined, variables: Variables): TaskCommand {
  const fill = (value: string): string => fillIn(name, value, variables);
  const options = execution?.options;
  const cwd = options?.cwd === undefined ? null : fill(options.cwd);
  const env = options?.env
    ? Object.fromEntries(Object.entries(options.env).map(([key, value]) => [key, fill(value)]))
    : null;
  const base = { cwd, env };
  if (execution?.process !== undefined) {
    const args = (execution.args ?? []).map((arg) => fill(typeof arg === 'string' ? arg : arg.value));
    return { ...base, argv: [fill(execution.process), ...args], line: null };
  }
  if (execution?.commandLine !== undefined) return { ...base, argv: null, line: fill(execution.commandLine) };
  if (execution?.command !== undefined) {
    const words = [execution.command, ...(execution.args ?? [])];
    return { ...base, argv: null, line: words.map((word, index) => shellWord(word, index, fill)).join(' ') };
  }
  throw new LanewayError('INVALID_INPUT', `the task "${name}" runs no command of its own`, 'Add its command itself.');
}

/** As the editor's shell tasks quote: what was marked quoted stays one word, and so does what holds blanks. */
function shellWord(word: string | Quoted, index: number, fill: (value: string) => string): string {
  if (typeof word !== 'string') return quoteArgv([fill(word.value)]);
  const filled = fill(word);
  return index > 0 && /\s/.test(filled) && !/^(['"]).*\1$/.test(filled) ? quoteArgv([filled]) : filled;
}

function fillIn(name: string, value: string, { workspaceFolder, userHome, env }: Variables): string {
  return value.replace(/\$\{([^}]+)\}/g, (whole, variable: string) => {
    if (variable === 'workspaceFolder' || variable === 'workspaceRoot' || variable === 'cwd') return workspaceFolder;
    if (variable === 'workspaceFolderBasename') return workspaceFolder.split(/[\\/]/).at(-1) ?? '';
    if (variable === 'userHome') return userHome;
    if (variable === 'pathSeparator' || variable === '/') return workspaceFolder.includes('\\') ? '\\' : '/';
    if (variable.startsWith('env:')) return env[variable.slice(4)] ?? '';
    throw new LanewayError(
      'INVALID_INPUT',
      `the task "${name}" uses ${whole}, which only the editor can fill in`,
      'Add the command itself, with the value in place.',
    );
  });
}

/** How the scripts of a package are run, by the lock file beside it. */
export function scriptRunner(files: readonly string[]): 'npm' | 'pnpm' | 'yarn' | 'bun' {
  if (files.includes('pnpm-lock.yaml')) return 'pnpm';
  if (files.includes('yarn.lock')) return 'yarn';
  if (files.includes('bun.lock') || files.includes('bun.lockb')) return 'bun';
  return 'npm';
}

/** The scripts of a package.json's text, or none when it is no such thing. */
export function packageScripts(text: string): { name: string; command: string }[] {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    return Object.entries(scripts ?? {}).flatMap(([name, command]) =>
      typeof command === 'string' ? [{ name, command }] : [],
    );
  } catch {
    return [];
  }
}
