/**
 * Descriptors that whoever started this process left open for it: the lock of a script (`exec 200>lock; flock 200`),
 * a pipe that somebody reads to its end. Node closes the first sixteen to its children, and all that it opens itself.
 * The others would go on into every child, and what they stand for would last as long as a server or a job does.
 */
import fs from 'node:fs';

/** O_CLOEXEC, as /proc writes flags. */
const CLOSED_ON_EXEC = 0o2_000_000;

let known: ('ignore' | number)[] | undefined;

/** What a child's `stdio` has to hold from index 3 on, so that it gets none of them. Elsewhere than on Linux the system sees to it. */
export function strayStdio(): readonly ('ignore' | number)[] {
  known ??= cover(strayDescriptors());
  return known;
}

/** Over each of them lies the empty device. */
function cover(strays: readonly number[]): ('ignore' | number)[] {
  if (strays.length === 0) return [];
  const nothing = fs.openSync('/dev/null', 'r+');
  const stdio = Array.from<unknown, 'ignore' | number>({ length: Math.max(...strays) - 2 }, () => 'ignore');
  for (const stray of strays) stdio[stray - 3] = nothing;
  return stdio;
}

function strayDescriptors(): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return fs
      .readdirSync('/proc/self/fd')
      .map(Number)
      .filter((descriptor) => descriptor > 2 && survivesExec(descriptor));
  } catch {
    return [];
  }
}

function survivesExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // It was the one that listed the others.
    return false;
  }
}
