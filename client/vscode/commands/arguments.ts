/** Reading what a command was called with, without trusting its shape. Pure. */
import type { Queue } from '../context.ts';

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** The id a node, a handle, a job, a number or a reference (`last`, `label:NAME`) names; else null. */
export function idOf(argument: unknown): number | string | null {
  if (typeof argument === 'number' && Number.isSafeInteger(argument)) return argument;
  if (typeof argument === 'string' && argument !== '') return /^\d+$/.test(argument) ? Number(argument) : argument;
  const job = field(argument, 'job') ?? argument;
  const id = field(job, 'id');
  return typeof id === 'number' ? id : null;
}

/** The queue of a node or handle. */
export function queueOf(argument: unknown): Queue | undefined {
  const queue = field(argument, 'queue');
  return typeof field(queue, 'request') === 'function' ? (queue as Queue) : undefined;
}

/** The folder an argument names: `folder`, or the `cwd` of a job to add. */
export function folderOf(argument: unknown): string | null {
  const folder = field(argument, 'folder') ?? field(argument, 'cwd');
  return typeof folder === 'string' ? folder : null;
}

/** The lane of a node, a job or an object with `lane`; or a bare name. */
export function laneOf(argument: unknown): string | null {
  if (typeof argument === 'string') return argument;
  const lane = field(argument, 'lane') ?? field(field(argument, 'job'), 'lane');
  if (typeof lane === 'string') return lane;
  const name = field(lane, 'name');
  return typeof name === 'string' ? name : null;
}

/** The attempt a node or a `{attempt}` names; null for the latest. */
export function attemptOf(argument: unknown): number | null {
  const attempt = field(argument, 'attempt');
  const number = field(attempt, 'number') ?? attempt;
  return typeof number === 'number' ? number : null;
}
