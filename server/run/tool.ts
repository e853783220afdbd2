/** execa, loaded on first use: it takes some MiB, and a server on Linux hardly ever needs it. */
import type { execa as Execa } from 'execa';

let loading: Promise<typeof Execa> | undefined;

/** Loaded once; every caller shares it. */
export function loadExeca(): Promise<typeof Execa> {
  loading ??= import('execa').then((module) => module.execa);
  return loading;
}

/**
 * Run a tool of the system and give its stdout. A tool that fails or is missing gives ''.
 * `extra` is added to this process' environment.
 */
export type RunTool = (file: string, args: string[], extra: Record<string, string> | null) => Promise<string>;

export const runTool: RunTool = async (file, args, extra) => {
  const execa = await loadExeca();
  const { stdout } = await execa(file, args, {
    stdin: 'ignore',
    stderr: 'ignore',
    reject: false,
    timeout: 10_000,
    env: extra ?? {},
  });
  return typeof stdout === 'string' ? stdout : '';
};
