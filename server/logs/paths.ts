/** Where an attempt's output lies: `logs/<bucket>/<job>.<attempt>.log`. Pure. */
import path from 'node:path';

/** Jobs per folder: a folder of a million files is slow to create in and to delete from. */
const BUCKET = 1000;

/** `stdout` and `stderr` are the same file unless the job is split. */
export interface LogPaths {
  stdout: string;
  stderr: string;
}

export function logPaths(logs: string, jobId: number, attempt: number, split: boolean): LogPaths {
  const stem = path.join(logs, String(Math.floor(jobId / BUCKET)), `${jobId}.${attempt}`);
  if (split) return { stdout: `${stem}.out.log`, stderr: `${stem}.err.log` };
  return { stdout: `${stem}.log`, stderr: `${stem}.log` };
}

/**
 * A recorded path under the logs folder as it is now: the state folder may have been moved, and
 * a path from a database never leads out of it. Null when the recorded path is not of our making.
 */
export function locateLog(logs: string, recorded: string): string | null {
  const match = /(?:^|[\\/])(\d+)[\\/](\d+\.\d+(?:\.out|\.err)?\.log)$/.exec(recorded);
  return match === null ? null : path.join(logs, match[1] ?? '', match[2] ?? '');
}
