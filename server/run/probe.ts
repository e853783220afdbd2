/** Can this machine start a process and keep its output? Tried with the least there is of both. */
import { writeSync } from 'node:fs';
import path from 'node:path';
import { closeLogs, discardLogs, openLogs } from '../logs/open.ts';
import type { Spawn } from './spawn.ts';

/** Bytes written to see that the disk has room for more than a name. */
const SOME_OUTPUT = 'x'.repeat(4096);

/** Never rejects: whatever goes wrong means "not yet". */
export async function probeMachine(spawn: Spawn, logs: string, name: string, windows: boolean): Promise<boolean> {
  const file = path.join(logs, 'probe', `${name}.log`);
  const files = { stdout: file, stderr: file };
  try {
    const opened = openLogs(files);
    try {
      writeSync(opened.descriptors.stdout, SOME_OUTPUT);
      const argv = windows ? ['cmd.exe', '/d', '/c', 'exit 0'] : ['/bin/sh', '-c', ':'];
      const spawned = spawn({ argv, cwd: logs, env: {}, umask: 0o077, ...opened.descriptors });
      if (!spawned.started) return false;
      await spawned.exited;
      return true;
    } finally {
      closeLogs(opened);
    }
  } catch {
    return false;
  } finally {
    discardLogs(files);
  }
}
