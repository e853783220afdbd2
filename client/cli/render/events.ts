/** Events of the ledger in words, one line each. */
import { sayBytes, sayDuration, sayMoment, sayTime } from '../../../shared/format.ts';
import type { JobEvent, TimelineEntry } from '../../../shared/event.ts';
import type { Attempt } from '../../../shared/job.ts';
import { escapeControls } from '../../../shared/text.ts';
import { table } from './table.ts';
import { paint, type Style, type View } from './view.ts';
import { attemptState, ending } from './words.ts';

const STYLES: Partial<Record<JobEvent['type'], Style>> = {
  succeeded: 'green',
  failed: 'red',
  timed_out: 'red',
  dead: 'red',
  reaped: 'yellow',
  retried: 'yellow',
  canceled: 'yellow',
  cancel_requested: 'yellow',
};

/** `cancel requested`, `timed out`: the event's type as words. */
function eventWord(type: JobEvent['type']): string {
  return type.replaceAll('_', ' ');
}

/** The event's detail as `name value` pairs, times relative, durations said. Escaped. */
function eventDetail(event: JobEvent, view: View): string {
  return Object.entries(event.detail)
    .filter(([, value]) => value !== null && value !== undefined && value !== false)
    .map(([name, value]) => {
      const words = name.replace(/Ms$|At$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      if (value === true) return words;
      return `${words} ${detailValue(name, value, event.at, view)}`;
    })
    .map(escapeControls)
    .join(', ');
}

function detailValue(name: string, value: unknown, at: string, view: View): string {
  if (typeof value === 'number' && name.endsWith('Ms')) return sayDuration(value);
  // How long it was put off stays as true as the event; how long ago that was over tells nobody anything.
  if (name === 'nextRunAt' && typeof value === 'string')
    return `after ${sayDuration(Math.max(0, Date.parse(value) - Date.parse(at)))}`;
  if (name.endsWith('At') && (typeof value === 'number' || typeof value === 'string'))
    return sayMoment(value, view.now);
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}

export function eventText(event: JobEvent, view: View): string {
  const detail = eventDetail(event, view);
  const word = paint(view, STYLES[event.type], eventWord(event.type));
  const when = paint(view, 'dim', sayMoment(event.at, view.now));
  return `${word}${detail === '' ? '' : `  ${detail}`}  ${when}`;
}

/** An attempt in one line: number, state, ending, how long, when. */
export function attemptText(attempt: Attempt, view: View): string {
  const end = attempt.error === null ? ending(attempt) : escapeControls(attempt.error);
  const took =
    attempt.durationMs === null
      ? `for ${sayDuration(Math.max(0, view.now - Date.parse(attempt.startedAt)))}`
      : `took ${sayDuration(attempt.durationMs)}`;
  const parts = [
    `attempt ${attempt.number}`,
    attemptState(attempt.state, view),
    end ?? '',
    took,
    attempt.finishedAt === null && attempt.pid !== null ? `pid ${attempt.pid}` : '',
    paint(view, 'dim', sayMoment(attempt.finishedAt ?? attempt.startedAt, view.now)),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

/** Where the attempt's output lies and how much there is; two lines when it is split. */
export function attemptLogs(attempt: Attempt, view: View): string[] {
  const { stdoutPath, stderrPath, stdoutBytes, stderrBytes } = attempt;
  if (stdoutPath === null) return [];
  const line = (name: string, path: string, bytes: number | null): string =>
    `${paint(view, 'dim', name)} ${escapeControls(path)}${bytes === null ? '' : ` (${sayBytes(bytes)})`}`;
  if (stderrPath === null || stderrPath === stdoutPath) return [line('log', stdoutPath, stdoutBytes)];
  return [line('stdout', stdoutPath, stdoutBytes), line('stderr', stderrPath, stderrBytes)];
}

/** A job's merged history as a table with absolute local times. */
export function timelineTable(entries: readonly TimelineEntry[], view: View): string[] {
  if (entries.length === 0) return ['Nothing has happened.'];
  const rows = entries.map((entry) => {
    if (entry.kind === 'event') {
      const { event } = entry;
      return [
        { text: sayTime(entry.at), style: 'dim' as const },
        event.attempt === null ? '' : String(event.attempt),
        { text: eventWord(event.type), style: STYLES[event.type] ?? null },
        eventDetail(event, view),
      ];
    }
    const { attempt } = entry;
    const took = attempt.durationMs === null ? 'running' : `took ${sayDuration(attempt.durationMs)}`;
    const end = ending(attempt);
    return [
      { text: sayTime(entry.at), style: 'dim' as const },
      String(attempt.number),
      { text: `attempt ${attempt.state.replaceAll('_', ' ')}`, style: 'bold' as const },
      end === null ? took : `${end}, ${took}`,
    ];
  });
  return table(
    [{ title: 'WHEN' }, { title: 'ATTEMPT', align: 'right' }, { title: 'WHAT' }, { title: 'DETAIL', shrinkTo: 16 }],
    rows,
    view,
  );
}
