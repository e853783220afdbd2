/** `lane` as a small program of a few lines that runs the extension's own. Pure. */
import { quotePosix } from '../../../shared/shell.ts';
import type { Runtime } from '../runtime.ts';

/** A line by which Laneway knows its own programs again. */
export const SHIM_MARK = '# Written by the Laneway extension.';

/** The text of a `lane` to put on a PATH: it runs the CLI's bundle on this runtime. */
export function shim(
  runtime: Runtime,
  bundle: string,
  platform: NodeJS.Platform,
): { name: string; text: string; mode: number } {
  if (platform === 'win32') {
    const electron = runtime.electron ? 'set "ELECTRON_RUN_AS_NODE=1"\r\n' : '';
    const text = `@echo off\r\nsetlocal\r\n${electron}"${runtime.execPath}" "${bundle}" %*\r\n`;
    return { name: 'lane.cmd', text, mode: 0o755 };
  }
  const electron = runtime.electron ? 'ELECTRON_RUN_AS_NODE=1 ' : '';
  const text = `#!/bin/sh\n${SHIM_MARK}\n${electron}exec ${quotePosix(runtime.execPath)} ${quotePosix(bundle)} "$@"\n`;
  return { name: 'lane', text, mode: 0o755 };
}
