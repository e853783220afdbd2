/**
 * The attempts that run here: begun from claims, watched to their end, and recorded.
 *
 * Every write names the owner (job, attempt, worker, fence). When one finds no row, the job has
 * another owner by now, and this worker lets go of the attempt: no signal, no late result.
 */
import type { AttemptEnd, Claimed, Owner, Queries, Tx } from '../store/api.ts';
import * as queries from '../store/queries/index.ts';
import * as transitions from '../store/transitions/index.ts';
import { runAttempt } from './attempt.ts';
import type { AttemptRun, AttemptTools, Begun } from './attempt.ts';
import type { WorkerOptions } from './contract.ts';
import { stopGroup } from './group.ts';
import type { Persist } from './persist.ts';

export interface AttemptsTools extends Omit<AttemptTools, 'logLimit' | 'spawn'> {
  options: Pick<WorkerOptions, 'store' | 'logLimit' | 'onFinished'>;
  /** Null until the worker has started. */
  spawn: () => AttemptTools['spawn'] | null;
  persist: Persist;
  workerId: string;
  /** A slot is free. Called in the tick in which the end was handed to the store, to share its transaction. */
  onFree: () => void;
  /** A claim or an end counts for nothing: another worker has taken the job over. */
  onDiscarded: () => void;
  /** An end is written. */
  onRecorded: () => void;
  onTrouble: (text: string) => void;
}

export interface Attempts {
  /** `claimedAt`: ticks just before the claim. */
  begin(claimed: Claimed, claimedAt: number): void;
  /** How many slots are taken. */
  running(): number;
  /** How many ends are on their way into the database; their slots are free again. */
  recording(): number;
  /** Carry out cancels, and let go of what moved to another owner. */
  look(): void;
  /** Stop every group; what is claimed from now on goes back unstarted. */
  stopAll(): void;
  /** Dependents that one transaction could not settle. */
  settle(): Promise<void>;
}

/**
 * A start is recorded this much later, so that a job that ends sooner needs one transaction, and one
 * sync of the disk, for both. Where the worker dies in between, a reaper finds the process by its
 * marks; so only on Linux, which shows them.
 */
const START_MS = 10;
/** A claim older than this is looked at again before its process is started: this worker may have stood still. */
const STALE_MS = 100;

export function createAttempts(tools: AttemptsTools): Attempts {
  const { options, clock, log, persist, point, workerId } = tools;
  /** By `job.attempt`. */
  const active = new Map<string, AttemptRun>();
  /** Started too late, when others had the job: no reaper knows of their processes, so they are stopped here. */
  const strays = new Set<AttemptRun>();
  let recording = 0;
  let stopping = false;

  function begin(claimed: Claimed, claimedAt: number): void {
    const since = clock.ticks();
    if (since - claimedAt > STALE_MS && !owned().has(fencedKeyOf(claimed))) {
      discard(claimed, 'it is not started');
      return;
    }
    const spawn = tools.spawn();
    if (spawn === null || stopping) {
      void record(claimed, STOPPED_UNSTARTED, since, null);
      return;
    }
    const run = runAttempt(claimed, { ...tools, spawn, logLimit: options.logLimit() });
    active.set(keyOf(claimed), run);
    void follow(run, since);
  }

  async function follow(run: AttemptRun, since: number): Promise<void> {
    const begun = await run.begun;
    let recorded: Promise<void> | null = null;
    const timer = setTimeout(
      () => {
        if (begun !== null) recorded = recordStart(run, begun);
      },
      tools.platform === 'linux' ? START_MS : 0,
    );
    const end = await run.ended;
    clearTimeout(timer);
    // Its logs must be known before it ends, or nobody could read them.
    await (recorded as Promise<void> | null);
    active.delete(keyOf(run.claimed));
    strays.delete(run);
    point('exit:before-finish');
    if (end?.kind === 'machine_trouble') tools.onTrouble(end.error ?? 'processes cannot be started');
    await record(run.claimed, end, since, recorded === null ? begun : null);
  }

  async function recordStart(run: AttemptRun, begun: Begun): Promise<void> {
    try {
      const isOurs = await persist('a start', (tx) => transitions.started(tx, run.claimed, begun));
      point('started:after');
      if (isOurs) return;
      strays.add(run);
      run.stop({ reason: 'stop' });
    } catch (error) {
      log(`job ${run.claimed.jobId}: its start is not recorded: ${(error as Error).message}`);
    }
  }

  /** `begun`: a start that is not recorded yet. */
  async function record(claimed: Claimed, end: AttemptEnd | null, since: number, begun: Begun | null): Promise<void> {
    recording += 1;
    const write = (tx: Tx, ending: AttemptEnd) => {
      if (begun !== null) transitions.started(tx, claimed, begun);
      return transitions.finish(tx, claimed, ending);
    };
    const writing = end === null ? null : persist('an end', (tx) => write(tx, end));
    tools.onFree();
    try {
      const result = await writing;
      if (result === null || end === null || !result.applied) {
        discard(claimed, 'its end is discarded');
        if (begun !== null) await clearStray(claimed, begun);
        return;
      }
      point('finish:after');
      if (result.settleMore) await settle();
      options.onFinished?.({
        jobId: claimed.jobId,
        attempt: claimed.attempt,
        state: result.attemptState,
        exitCode: end.exitCode,
        durationMs: Math.round(clock.ticks() - since),
        jobState: result.jobState,
      });
    } catch (error) {
      log(`job ${claimed.jobId} attempt ${claimed.attempt}: its end is not recorded: ${(error as Error).message}`);
    } finally {
      recording -= 1;
      tools.onRecorded();
    }
  }

  function discard({ jobId, attempt }: Claimed, what: string): void {
    log(`job ${jobId} attempt ${attempt}: it has another owner by now; ${what}`);
    tools.onDiscarded();
  }

  /** What an unrecorded process left running. */
  function clearStray({ cancelGraceMs }: Claimed, { pid, startTime }: Begun): Promise<void> {
    return stopGroup({ pid, startTime, own: false }, { graceMs: cancelGraceMs }, tools);
  }

  async function settle(): Promise<void> {
    while (await persist('what follows from an end', (tx) => transitions.settle(tx)));
  }

  /** The jobs that this worker owns, by job, attempt and fence. */
  function owned(): Map<string, ReturnType<Queries['ownedState']>[number]> {
    const rows = options.store.read((reader) => queries.ownedState(reader, workerId));
    return new Map(rows.map((row) => [fencedKeyOf(row), row]));
  }

  function look(): void {
    if (active.size === 0) return;
    const rows = owned();
    for (const run of active.values()) {
      const row = rows.get(fencedKeyOf(run.claimed));
      if (strays.has(run)) continue;
      if (row === undefined) run.letGo();
      else if (row.cancelRequested) run.stop({ reason: 'cancel' });
    }
  }

  return {
    begin,
    look,
    settle,
    running: () => active.size,
    recording: () => recording,
    stopAll: () => {
      stopping = true;
      for (const run of active.values()) run.stop({ reason: 'stop' });
    },
  };
}

const STOPPED_UNSTARTED: AttemptEnd = {
  kind: 'stopped',
  exitCode: null,
  signal: null,
  error: 'its worker was told to stop before it started',
  stdoutBytes: null,
  stderrBytes: null,
  signalled: true,
};

function keyOf({ jobId, attempt }: Pick<Owner, 'jobId' | 'attempt'>): string {
  return `${jobId}.${attempt}`;
}

function fencedKeyOf(owner: Pick<Owner, 'jobId' | 'attempt' | 'fence'>): string {
  return `${keyOf(owner)}.${owner.fence}`;
}
