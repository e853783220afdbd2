/**
 * The only writers of job state. Each function is one transition in one immediate transaction: it
 * names what it expects, changes rows, and writes its event. What each event says: events.ts.
 *
 * A job begins `blocked` (it needs jobs that are not done) or `queued`. A blocked job is released
 * when the last of its needs is done, or settled by its policy when one ends otherwise. A queued job
 * is due at once or at a time; when it is due, first in its lane, and the lane has a free slot, a
 * worker claims it: it is `running`, with a new attempt and a higher fence, and from then on only
 * writes that name job, attempt, worker and fence change it. The attempt ends: by its own worker
 * (finish), or by a reaper that first took it over (takeOver, closeReaped). Then the job is `done`,
 * `dead` or `canceled`, or queued again. `dead` alone is no end for ever: a person may retry it.
 *
 *   from       verb          when                                          to         events
 *   ─────────  ────────────  ────────────────────────────────────────────  ─────────  ──────────────────────────
 *   –          add, rerun    every need is done, or there are none         queued     added
 *   –          add           a need is not done                            blocked    added
 *   –          retry         in the place of a canceled job, with its need queued,    added
 *                                                                          blocked
 *   –          add           a need has ended badly already                canceled,  added, canceled | dead
 *                                                                          dead
 *   blocked    (dependents)  the last need is done, or counts as done      queued     released
 *   blocked    (dependents)  a need ended dead or canceled                 canceled,  canceled | dead
 *                                                                          dead
 *   blocked    cancel                                                      canceled   canceled
 *   queued     cancel                                                      canceled   canceled
 *   blocked,   bump          other priority, or due now                    the same   rescheduled
 *   queued
 *   queued     retry         it has failed or crashed before               queued     retried
 *   queued     claim         due, first, a free slot                       running    claimed
 *   running    cancel                                                      running    cancel_requested
 *   running    retry         force                                         running    cancel_requested
 *   running    checkpoint                                                  running    checkpointed
 *   running    takeOver      its worker is gone                            running    –  (owner and fence alone)
 *   running    finish        exit 0 (after a request: before any signal)   done       succeeded
 *   running    finish        after a request to cancel                     canceled   canceled
 *   running    finish        after a forced retry                          queued     retried
 *   running    finish        failed, retries left                          queued     failed | timed_out, retried
 *   running    finish        failed, no retries left                       dead       failed | timed_out, dead
 *   running    finish        non-zero exit after a recorded sleep          queued     slept
 *   running    finish        the machine could not start it, or its        queued     retried
 *                            worker was stopped
 *   running    closeReaped   after a request to cancel                     canceled   reaped, canceled
 *   running    closeReaped   after a forced retry                          queued     reaped, retried
 *   running    closeReaped   crashes left                                  queued     reaped, retried
 *   running    closeReaped   no crashes left                               dead       reaped, dead
 *   dead       retry         its needs are done (or not yet: blocked)      queued,    retried
 *                                                                          blocked
 *   ended      prune                                                       –          pruned
 *
 * `done`, `dead` and `canceled` end in `endJob` (live.ts), and every end settles its dependents, in
 * the same transaction as far as its limit of rows allows, then by `settle`.
 */
export { add } from './add.ts';
export { bump } from './bump.ts';
export { cancel } from './cancel.ts';
export { claim } from './claim.ts';
export { settle } from './dependents.ts';
export { closeReaped, finish } from './finish.ts';
export { pause, removeLane, resume, setLane } from './lanes.ts';
export { prune, prunedFiles, pruneLedger } from './prune.ts';
export { rerun } from './rerun.ts';
export { retry } from './retry.ts';
export { setSettings } from './settings.ts';
export { checkpoint, sleep } from './stages.ts';
export { heartbeat, registerWorker, release, removeWorker, setConcurrency, started, takeOver } from './workers.ts';
