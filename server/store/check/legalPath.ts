/**
 * The state machine as an automaton over a job's events: pure, so that `doctor --deep` can replay
 * any ledger and say which event could not have followed the ones before it. What each event says
 * is settled in transitions/events.ts.
 */
import type { EventType } from '../../../shared/event.ts';
import type { JobState } from '../../../shared/job.ts';

/** What the automaton reads of an event. */
export interface PathEvent {
  type: EventType;
  attempt: number | null;
  detail: Readonly<Record<string, unknown>>;
}

/**
 * Where a job stands. `closing`: its attempt has ended and the next event, of the same
 * transaction, says what becomes of the job.
 */
export interface Standing {
  at: JobState | 'start' | 'closing' | 'pruned';
  /** The newest attempt's number. */
  attempt: number;
}

export const START: Readonly<Standing> = { at: 'start', attempt: 0 };

/** Where the event leads, or in words why it cannot stand here. */
export function follow(from: Readonly<Standing>, event: PathEvent): Standing | string {
  switch (event.type) {
    case 'added':
      return must(from, ['start'], event) ?? enter(from, event);
    case 'released':
      return must(from, ['blocked'], event) ?? { ...from, at: 'queued' };
    case 'claimed':
      return must(from, ['queued'], event) ?? open(from, event);
    case 'succeeded':
      return ofAttempt(from, ['running'], event) ?? { ...from, at: 'done' };
    case 'failed':
    case 'timed_out':
    case 'reaped':
      return ofAttempt(from, ['running'], event) ?? { ...from, at: 'closing' };
    case 'slept':
      return ofAttempt(from, ['running'], event) ?? { ...from, at: 'queued' };
    case 'cancel_requested':
    case 'checkpointed':
      return must(from, ['running'], event) ?? { ...from };
    case 'rescheduled':
      return must(from, ['blocked', 'queued'], event) ?? { ...from };
    case 'retried':
      return retried(from, event);
    case 'dead':
      return dead(from, event);
    case 'canceled':
      return canceled(from, event);
    case 'pruned':
      return must(from, ['done', 'dead', 'canceled'], event) ?? { ...from, at: 'pruned' };
    case 'lane_changed':
      return 'lane_changed concerns no job';
    default:
      return event.type satisfies never;
  }
}

function must(from: Readonly<Standing>, places: readonly Standing['at'][], event: PathEvent): string | null {
  return places.includes(from.at) ? null : `${event.type} cannot follow while ${words(from.at)}`;
}

function ofAttempt(from: Readonly<Standing>, places: readonly Standing['at'][], event: PathEvent): string | null {
  const misplaced = must(from, places, event);
  if (misplaced !== null) return misplaced;
  return event.attempt === from.attempt
    ? null
    : `${event.type} speaks of attempt ${event.attempt} while attempt ${from.attempt} runs`;
}

function words(at: Standing['at']): string {
  if (at === 'start') return 'not yet added';
  return at === 'closing' ? 'an ended attempt is being settled' : at;
}

/** Into the state that the event names. */
function enter(from: Readonly<Standing>, event: PathEvent): Standing | string {
  const state = event.detail['state'];
  if (state === 'queued' || state === 'blocked') return { ...from, at: state };
  return `${event.type} leads to no state`;
}

function open(from: Readonly<Standing>, event: PathEvent): Standing | string {
  if (event.attempt === from.attempt + 1) return { ...from, at: 'running', attempt: event.attempt };
  return `claimed opens attempt ${event.attempt} after attempt ${from.attempt}`;
}

function retried(from: Readonly<Standing>, event: PathEvent): Standing | string {
  const { automatic, because, forced } = event.detail;
  switch (from.at) {
    case 'closing':
      return enter(from, event);
    case 'queued':
    case 'dead':
      return automatic === true ? `an automatic retry cannot follow while ${from.at}` : enter(from, event);
    case 'running':
      // No event of its own closes an attempt that spent nothing, or was cancelled for a retry.
      return because === 'machine_trouble' || because === 'stopped' || forced === true
        ? enter(from, event)
        : 'retried cannot follow while running, unless nothing was spent or it was forced';
    case 'start':
    case 'blocked':
    case 'canceled':
    case 'done':
    case 'pruned':
      return `retried cannot follow while ${words(from.at)}`;
    default:
      return from.at satisfies never;
  }
}

function dead(from: Readonly<Standing>, event: PathEvent): Standing | string {
  if (from.at !== 'blocked') return must(from, ['closing'], event) ?? { ...from, at: 'dead' };
  return event.detail['reason'] === 'dependency' ? { ...from, at: 'dead' } : 'a blocked job dies only of a dependency';
}

function canceled(from: Readonly<Standing>, event: PathEvent): Standing | string {
  const misplaced = must(from, ['blocked', 'queued', 'running', 'closing'], event);
  if (misplaced !== null) return misplaced;
  const place = from.at === 'closing' ? 'running' : from.at;
  if (event.detail['from'] !== place) return `canceled says from ${String(event.detail['from'])} while ${place}`;
  const settled = event.detail['reason'] === 'dependency';
  if (settled && place !== 'blocked') return `a ${place} job is not canceled for a dependency`;
  return { ...from, at: 'canceled' };
}
