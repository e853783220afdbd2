/**
 * The server's own log: one line per event of its life, readable by the owner only, and never more
 * than two files of a bounded size. It is the place to look when a server that nobody sees misbehaves.
 */
import fs from 'node:fs';
import { escapeControls } from '../shared/text.ts';

export interface ServerLog {
  /** Appends a line; never throws: a full disk must not stop the queue. */
  write(message: string): void;
  close(): void;
}

const MAX_LINE = 8192;

/** @param maxBytes the size after which the file becomes `<file>.1` and a new one begins. */
export function openServerLog(file: string, now: () => number, maxBytes = 1 << 20): ServerLog {
  let fd: number | null = null;
  let size = 0;
  const open = (): void => {
    fd = fs.openSync(file, 'a', 0o600);
    fs.fchmodSync(fd, 0o600);
    size = fs.fstatSync(fd).size;
  };
  const close = (): void => {
    if (fd !== null) fs.closeSync(fd);
    fd = null;
  };
  return {
    write(message) {
      const text = escapeControls(message.length > MAX_LINE ? `${message.slice(0, MAX_LINE)} …` : message);
      const line = `${new Date(now()).toISOString()} ${process.pid} ${text}\n`;
      try {
        if (fd === null) open();
        if (size > 0 && size + Buffer.byteLength(line) > maxBytes) {
          close();
          fs.renameSync(file, `${file}.1`);
          open();
        }
        if (fd !== null) size += fs.writeSync(fd, line);
      } catch {
        close();
      }
    },
    close,
  };
}
