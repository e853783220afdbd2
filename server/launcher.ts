/** The `lane` that jobs find first on their PATH: this build's, run by the Node that runs the server. */
import fs from 'node:fs';
import path from 'node:path';
import { quotePosix } from '../shared/shell.ts';
import { replaceFile } from './replaceFile.ts';

/**
 * Writes the launcher into `<folder>/bin` and returns that; null when this build has no CLI beside it.
 * @param bundle path of `cli.js`.
 */
export function writeLauncher(folder: string, bundle: string, node: string, electron: boolean): string | null {
  if (!fs.existsSync(bundle)) return null;
  const bin = path.join(folder, 'bin');
  fs.mkdirSync(bin, { recursive: true, mode: 0o700 });
  const sh = `#!/bin/sh\n${electron ? 'ELECTRON_RUN_AS_NODE=1 ' : ''}exec ${quotePosix(node)} ${quotePosix(bundle)} "$@"\n`;
  // A job may be starting it right now.
  replaceFile(path.join(bin, 'lane'), sh, 0o700);
  if (process.platform === 'win32') {
    const set = electron ? '@set ELECTRON_RUN_AS_NODE=1\r\n' : '';
    replaceFile(path.join(bin, 'lane.cmd'), `@setlocal\r\n${set}@"${node}" "${bundle}" %*\r\n`, 0o700);
  }
  return bin;
}
