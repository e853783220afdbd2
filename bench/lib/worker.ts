/** A worker that claims and runs nothing. */
import type { Claimed, Tx } from '../../server/store/api.ts';
import * as transitions from '../../server/store/transitions/index.ts';

const ID = 'bench';

export function registerWorker(tx: Tx, concurrency: number): void {
  transitions.registerWorker(tx, {
    id: ID,
    kind: 'work',
    host: 'host',
    bootId: 'boot',
    pidNamespace: 'pid',
    pid: process.pid,
    startTime: null,
    lanes: null,
    slots: null,
    concurrency,
  });
}

/** The job that is next; undefined when none may start. */
export function claimNext(tx: Tx): Claimed | undefined {
  return transitions.claim(tx, { workerId: ID, lanes: null, slots: null, limit: 1 })[0];
}
