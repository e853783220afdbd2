/**
 * Where a running server listens when it is not where this environment says: the runtime folder comes from
 * XDG_RUNTIME_DIR or TMPDIR, which a desktop's editor, a login over ssh and cron each have differently. The
 * queue is the same, and so has one server; it names its socket in a file beside the database.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { StatePaths } from './paths.ts';

/** The socket that the last server named, if it lies elsewhere, in a folder of ours. Whoever named it may be gone. */
export function otherSocket({ serverFile, socket, socketFolder }: StatePaths): string | null {
  const uid = process.getuid?.();
  if (socketFolder === null || uid === undefined) return null;
  try {
    const { socket: named } = JSON.parse(fs.readFileSync(serverFile, 'utf8')) as { socket?: unknown };
    if (typeof named !== 'string' || named === socket || !path.isAbsolute(named)) return null;
    const folder = fs.lstatSync(path.dirname(named));
    return folder.isDirectory() && folder.uid === uid && fs.lstatSync(named).isSocket() ? named : null;
  } catch {
    return null;
  }
}
