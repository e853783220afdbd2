/**
 * What a live job is doing, derived and never stored: its phase, and why it waits. Pure, so that
 * a page of a thousand jobs gathers the situation once (queries/jobs.ts) and runs no query
 * per job here.
 */
import type { JobState, Phase } from '../../shared/job.ts';

/** How many needs a reason names before it counts the rest. */
const NAMED_NEEDS = 5;

/** The columns a phase is derived from; `due` and the rest are null for a terminal job. */
export interface PhaseColumns {
  state: JobState;
  due: number | null;
  backing_off: number | null;
  /** Milliseconds since the epoch. */
  next_run_at: number | null;
}

/**
 * The phase of a job at `now`. A job whose `due` is set is due whatever the clock says; one whose
 * time has come, though no claim has looked since, is ready as well.
 */
export function derivePhase(row: PhaseColumns, now: number): Phase {
  if (row.state !== 'queued') return row.state;
  if (row.due === 1 || (row.next_run_at ?? 0) <= now) return 'ready';
  return row.backing_off === 1 ? 'retrying' : 'scheduled';
}

/** A lane as a waiting job sees it. */
export interface LaneSituation {
  paused: boolean;
  slots: number;
  running: number;
}

/** A worker whose heartbeat is fresh. */
export interface WorkerSituation {
  /** Null: every lane. */
  lanes: readonly string[] | null;
  /** Its own ceiling per lane; null: the lane's alone. */
  slots: number | null;
  concurrency: number;
  running: number;
}

export interface Waiting {
  phase: Phase;
  lane: string;
  /** Milliseconds since the epoch. */
  nextRunAt: number | null;
  /** Needs not satisfied yet, ascending. */
  openNeeds: readonly number[];
}

/**
 * Why a job waits, in words; null when it does not wait. The first obstacle is named: what would
 * still hold it if all the later ones were gone.
 */
export function deriveWaitReason(
  job: Waiting,
  lane: LaneSituation | undefined,
  workers: readonly WorkerSituation[],
): string | null {
  switch (job.phase) {
    case 'blocked':
      return `needs ${enumerate(job.openNeeds)}`;
    case 'scheduled':
    case 'retrying':
      return `due at ${iso(job.nextRunAt ?? 0)}`;
    case 'ready':
    case 'queued':
      return lane === undefined ? 'no worker' : readyReason(job.lane, lane, workers);
    case 'running':
    case 'done':
    case 'dead':
    case 'canceled':
      return null;
    default:
      return job.phase satisfies never;
  }
}

function readyReason(name: string, lane: LaneSituation, workers: readonly WorkerSituation[]): string {
  if (lane.paused) return 'lane paused';
  const serving = workers.filter((worker) => worker.lanes === null || worker.lanes.includes(name));
  const ceiling = Math.min(lane.slots, Math.max(0, ...serving.map((worker) => worker.slots ?? lane.slots)));
  if (lane.running >= (serving.length === 0 ? lane.slots : ceiling)) return 'lane full';
  if (serving.length === 0) return 'no worker';
  return serving.every((worker) => worker.running >= worker.concurrency) ? 'workers busy' : 'about to start';
}

/** `12`, `12 and 14`, `1, 2, 3, 4, 5 and 20 more`. */
function enumerate(ids: readonly number[]): string {
  if (ids.length === 0) return 'jobs that are being settled';
  const named = ids.slice(0, NAMED_NEEDS).map(String);
  const rest = ids.length - named.length;
  const last = rest > 0 ? `${rest} more` : named.pop();
  return named.length === 0 ? `${last}` : `${named.join(', ')} and ${last}`;
}

/** Milliseconds since the epoch as the wire's time; what no date can say becomes the nearest that one can. */
export function iso(ms: number): string {
  return new Date(Math.max(-8.64e15, Math.min(8.64e15, ms))).toISOString();
}
