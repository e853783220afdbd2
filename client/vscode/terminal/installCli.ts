/**
 * `lane` for shells that the editor's PATH does not reach: a few lines in a folder of the
 * person's own programs that run the extension's. Asks the shell itself what it finds, before
 * and after; replaces nothing that Laneway did not write. No `vscode` here.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { LanewayError } from '../../../shared/errors.ts';
import { quotePosix } from '../../../shared/shell.ts';
import { SHIM_MARK } from './shim.ts';

/** A person's shell and where it begins. */
export interface Shell {
  /** Path of the program. */
  program: string;
  /** The home folder it reads its start-up files from. */
  home: string;
  env: NodeJS.ProcessEnv;
  platform: NodeJS.Platform;
}

/** What a shell says once its start-up files have run. */
export interface ShellView {
  /** Folders on its PATH. */
  entries: string[];
  /** Path of the `lane` it would run; null for none. */
  lane: string | null;
}

export interface Installed {
  file: string;
  /** Whether the shell runs just this file as `lane`; null when it could not be asked. */
  found: boolean | null;
  /** Another `lane` that the shell runs instead. */
  other: string | null;
  /** What to add to which start-up file, when the shell does not look in the folder. */
  add: { line: string; file: string } | null;
}

/** Start-up files may take their time, or wait for an answer that nobody gives. */
const SHELL_MS = 15_000;
const MARK = '__laneway__';

/** Put `lane` where the shell finds it. @throws CONFLICT when another program of that name is there already */
export async function installCli(shell: Shell, shim: string): Promise<Installed> {
  const before = await askShell(shell);
  const folder = chooseFolder(shell.home, before);
  const file = path.join(folder, 'lane');
  await writeLauncher(file, shim);
  const after = await askShell(shell);
  if (after === null) return { file, found: null, other: null, add: null };
  const found = after.lane !== null && path.resolve(after.lane) === file;
  const add = after.entries.includes(folder) ? null : startUpLine(shell, folder);
  return { file, found, other: found ? null : after.lane, add };
}

/** A folder of the person's own that the shell looks in; else the usual one. */
function chooseFolder(home: string, view: ShellView | null): string {
  const own = ['.local/bin', 'bin'].map((each) => path.join(home, each));
  return own.find((each) => view?.entries.includes(each)) ?? own[0]!;
}

/**
 * Write the program, unless something else has its place.
 * @throws CONFLICT then, with nothing changed
 */
export async function writeLauncher(file: string, shim: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.tmp`;
  await fs.writeFile(fresh, launcher(shim), { mode: 0o755, flag: 'wx' });
  try {
    if (await isOurs(file)) await fs.rename(fresh, file);
    // A link, unlike a rename, fails when somebody else was quicker.
    else await fs.link(fresh, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new LanewayError(
      'CONFLICT',
      `${file} is there already, and Laneway did not write it`,
      'Move it away, or give it another name, and install again.',
    );
  } finally {
    await fs.rm(fresh, { force: true });
  }
}

async function isOurs(file: string): Promise<boolean> {
  const stat = await fs.lstat(file).catch(() => null);
  if (!stat?.isFile() || stat.size > 4096) return false;
  return (await fs.readFile(file, 'utf8')).includes(SHIM_MARK);
}

/** It runs the shim that the extension keeps up to date, and says so when that is gone. */
function launcher(shim: string): string {
  return `#!/bin/sh
${SHIM_MARK}
lane=${quotePosix(shim)}
if [ -x "$lane" ]; then exec "$lane" "$@"; fi
echo "lane: the Laneway extension is not installed any more; delete $0" >&2
exit 127
`;
}

/** What the shell sees once its start-up files have run, in a terminal of its own; null when it does not say. */
export async function askShell(shell: Shell): Promise<ShellView | null> {
  const { program, home, env, platform } = shell;
  const name = path.basename(program);
  if (platform === 'win32' || /^(?:pwsh|nu|t?csh|xonsh)/.test(name)) return null;
  // As the editor starts it: bash reads the file people edit only when it is no login shell.
  const how = name === 'bash' && platform !== 'darwin' ? ['-i'] : ['-l', '-i'];
  const script = `printf '\\n${MARK}%s\\n${MARK}%s\\n' "$PATH" "$(command -v lane)"`;
  const text = await runShell(program, [...how, '-c', name === 'fish' ? fishScript() : script], {
    ...env,
    HOME: home,
    TERM: 'dumb',
    // Start-up files that know this leave out what only a person needs.
    VSCODE_RESOLVING_ENVIRONMENT: '1',
  });
  const [entries, lane] = text.split('\n').flatMap((line) => (line.startsWith(MARK) ? [line.slice(MARK.length)] : []));
  if (entries === undefined) return null;
  return { entries: entries.split(':').map((each) => each.replace(/(.)\/$/, '$1')), lane: lane || null };
}

function fishScript(): string {
  return `printf '\\n${MARK}%s\\n${MARK}%s\\n' (string join : $PATH) (command -v lane; or echo '')`;
}

/** What it prints; whatever it says besides, and how it ends, does not matter. */
export async function runShell(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return await new Promise((resolve) => {
    // A session of its own: an interactive shell would take the terminal, and its children end with it.
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    const end = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It ended meanwhile.
      }
      end();
    }, SHELL_MS);
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text = (text + piece).slice(-1_000_000);
    });
    child.on('error', end);
    child.on('close', end);
  });
}

function startUpLine({ program, home, platform }: Shell, folder: string): { line: string; file: string } {
  const name = path.basename(program);
  const shown = folder.startsWith(`${home}/`) ? `$HOME${folder.slice(home.length)}` : folder;
  if (name === 'fish') return { line: `fish_add_path "${shown}"`, file: '~/.config/fish/config.fish' };
  const files: Record<string, string> = {
    zsh: '~/.zshrc',
    bash: platform === 'darwin' ? '~/.bash_profile' : '~/.bashrc',
  };
  return { line: `export PATH="${shown}:$PATH"`, file: files[name] ?? '~/.profile' };
}
