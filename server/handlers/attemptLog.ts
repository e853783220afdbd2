/**
 * The log a client means by attempt and stream, as one run of bytes. Usually that is one file. Of a job
 * whose streams are split, `both` is its stdout and, once it has ended, its stderr behind that: offsets
 * that were valid while it ran then stay valid.
 */
import { promises as fs } from 'node:fs';
import type { Attempt } from '../../shared/job.ts';
import type { Stream } from '../../shared/protocol.ts';
import { locateLog } from '../logs/paths.ts';
import { type Page, readPage } from '../logs/read.ts';

/** The files in order; none while nothing was recorded. */
export function logOf(attempt: Attempt | null, stream: Stream, logs: string): string[] {
  if (attempt === null) return [];
  const stdout = attempt.stdoutPath === null ? null : locateLog(logs, attempt.stdoutPath);
  const stderr = attempt.stderrPath === null ? null : locateLog(logs, attempt.stderrPath);
  const wanted = stream === 'both' ? [stdout, stderr] : [stream === 'stdout' ? stdout : stderr];
  return [...new Set(wanted)].filter((file) => file !== null);
}

/** Bytes a client can read now. */
export async function sizeOfLog(files: string[], ended: boolean): Promise<number> {
  let size = 0;
  for (const file of visible(files, ended)) size += await sizeOf(file);
  return size;
}

export interface LogRequest {
  offset: number;
  tail: number | null;
  limit: number;
  raw: boolean;
  ended: boolean;
}

export async function readLog(files: string[], request: LogRequest): Promise<Page> {
  const { ended } = request;
  const [first, second] = visible(files, ended);
  if (first === undefined) return { bytes: Buffer.alloc(0), offset: request.offset, size: 0, complete: ended };
  if (second === undefined) {
    const page = await readPage(first, request);
    return { ...page, complete: page.complete && (ended || files.length === 1) };
  }
  const border = await sizeOf(first);
  const total = border + (await sizeOf(second));
  const from = request.tail === null ? request.offset : Math.max(0, total - request.tail);
  if (from < border) {
    const head = await readPage(first, { ...request, offset: from, tail: null });
    const limit = request.limit - head.bytes.length;
    if (!head.complete || limit <= 0) return { ...head, size: total, complete: head.complete && border === total };
    const rest = await readPage(second, { ...request, offset: 0, tail: null, limit });
    return { ...rest, bytes: Buffer.concat([head.bytes, rest.bytes]), offset: head.offset, size: total };
  }
  const page = await readPage(second, { ...request, offset: from - border, tail: null });
  return { ...page, offset: page.offset + border, size: total };
}

function visible(files: string[], ended: boolean): string[] {
  return ended ? files : files.slice(0, 1);
}

async function sizeOf(file: string): Promise<number> {
  return fs.stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
