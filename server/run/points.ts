/**
 * Named instants between two steps that must be safe to die in. In production a point does
 * nothing. The crash suite starts the server with `LANEWAY_TEST_POINTS`, and the process kills or
 * stops itself right there, which no timing from outside could do.
 */
import { EVENT_TYPES } from '../../shared/event.ts';
import type { StoreInstant } from '../store/api.ts';

/** Of a worker. */
export const POINTS = [
  'claim:before',
  'claim:after',
  'spawn:before',
  'spawn:after',
  'started:after',
  'exit:before-finish',
  'finish:after',
  'cancel:before-term',
  'cancel:after-term',
  'cancel:gone',
  'reap:before',
  'reap:taken',
  'reap:killed',
  'reap:after',
] as const;
export type PointName = (typeof POINTS)[number] | StoreInstant;

/** Of the store, see api.ts. */
const STORE_POINTS: readonly StoreInstant[] = [
  'open:made',
  'migrate:before',
  'migrate:after',
  ...(['commit:before', 'commit:after'] as const).flatMap((commit): StoreInstant[] => [
    commit,
    ...EVENT_TYPES.map((type) => `${commit}:${type}` as const),
  ]),
];

export type Point = (name: PointName) => void;

export const noPoint: Point = () => undefined;

/**
 * Points from `name=kill` or `name=pause`, comma separated; `name#3=kill` acts the third time only.
 * `signal` sends SIGKILL or SIGSTOP to this process and returns only if it survived.
 * @throws Error for a name or an action that does not exist: a crash test that never crashes is no test.
 */
export function parsePoints(text: string | undefined, signal: (name: 'SIGKILL' | 'SIGSTOP') => void = onSelf): Point {
  if (!text) return noPoint;
  const actions = new Map<string, { at: number; signal: 'SIGKILL' | 'SIGSTOP'; seen: number }>();
  for (const part of text.split(',')) {
    const match = /^([a-z:_-]+)(?:#(\d+))?=(kill|pause)$/.exec(part.trim());
    const name = match?.[1];
    if (match === null || name === undefined || ![...POINTS, ...STORE_POINTS].some((known) => known === name)) {
      throw new Error(`"${part}" names no point; known: ${[...POINTS, ...STORE_POINTS].join(', ')} (=kill or =pause)`);
    }
    actions.set(name, { at: Number(match[2] ?? 1), signal: match[3] === 'kill' ? 'SIGKILL' : 'SIGSTOP', seen: 0 });
  }
  return (name) => {
    const action = actions.get(name);
    if (action === undefined) return;
    action.seen += 1;
    if (action.seen === action.at) signal(action.signal);
  };
}

function onSelf(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal);
}
