/** The queue at a glance, its lanes, and workspaces. */
import { formatDuration } from '../../../shared/duration.ts';
import { sayBytes, sayCount, sayDuration, sayMoment, sayNumber } from '../../../shared/format.ts';
import type { Check, Job, Lane, Server, Status, Worker, Workspace } from '../../../shared/job.ts';
import { escapeControls } from '../../../shared/text.ts';
import { jobTable } from './jobs.ts';
import { table, type Cell } from './table.ts';
import { paint, type View } from './view.ts';
import { stateCell } from './words.ts';

export interface Overview extends Status {
  readonly logBytes: number | null;
  /** A few running jobs, newest first. */
  readonly runningJobs: readonly Job[];
  /** A few waiting jobs in the order in which they will start. */
  readonly waitingJobs: readonly Job[];
}

export function statusLines(status: Overview, view: View): string[] {
  const { counts } = status;
  const lines = [paint(view, 'bold', escapeControls(status.server.workspace)), ''];
  const count = (n: number, phase: Job['phase'], more = ''): string => {
    const { text, style } = stateCell(phase);
    return `${paint(view, n === 0 ? 'dim' : style, `${text} ${sayNumber(n)}`)}${more}`;
  };
  const delayed = [
    status.scheduled > 0 ? `${sayNumber(status.scheduled)} scheduled` : '',
    status.retrying > 0 ? `${sayNumber(status.retrying)} retrying` : '',
  ].filter((part) => part !== '');
  lines.push(
    `  ${count(counts.running, 'running')}   ${count(counts.queued, 'queued', delayed.length > 0 ? ` (${delayed.join(', ')})` : '')}   ${count(counts.blocked, 'blocked')}`,
    `  ${count(counts.done, 'done')}   ${count(counts.dead, 'dead')}   ${count(counts.canceled, 'canceled')}`,
  );
  const section = (name: string, rows: string[]): void => {
    if (rows.length > 0) lines.push('', paint(view, 'bold', name), ...rows);
  };
  const some = (shown: number, all: number): string => (all > shown ? ` (${shown} of ${sayNumber(all)})` : '');
  section(`Running${some(status.runningJobs.length, counts.running)}`, jobTable(status.runningJobs, view, '  '));
  const waiting = counts.queued + counts.blocked;
  section(`Waiting${some(status.waitingJobs.length, waiting)}`, jobTable(status.waitingJobs, view, '  '));
  section(
    'Lanes',
    lanesAs(status.lanes, view, '  ', () => []),
  );
  section('Workers', workerTable(status.workers, view, '  '));
  lines.push('', ...serverLines(status.server, status.logBytes, view));
  return lines;
}

function serverLines(server: Server, logBytes: number | null, view: View): string[] {
  const parts = server.running
    ? [
        `pid ${server.pid ?? '?'}`,
        server.version === null ? '' : `version ${escapeControls(server.version)}`,
        server.uptimeMs === null ? '' : `up ${sayDuration(server.uptimeMs)}`,
        server.clients === null ? '' : sayCount(server.clients, 'client'),
      ].filter((part) => part !== '')
    : ['not running'];
  const size = logBytes === null ? '' : `${sayBytes(logBytes)} in `;
  return [
    `${paint(view, 'bold', 'Server')}  ${parts.join(', ')}`,
    `${paint(view, 'bold', 'Logs')}    ${size}${escapeControls(server.logs)}`,
  ];
}

/** Lanes with their counts and, in `settings`, what is set for each. */
export function laneTable(lanes: readonly Lane[], view: View): string[] {
  return lanesAs(lanes, view, '', (lane) => [settingsOf(lane)]);
}

function lanesAs(lanes: readonly Lane[], view: View, indent: string, more: (lane: Lane) => string[]): string[] {
  const number = (n: number): Cell => ({ text: sayNumber(n), style: n === 0 ? 'dim' : null });
  return table(
    [
      { title: 'LANE', shrinkTo: 10 },
      { title: 'STATE' },
      { title: 'RUNNING', align: 'right' },
      { title: 'QUEUED', align: 'right' },
      { title: 'LATER', align: 'right' },
      { title: 'BLOCKED', align: 'right' },
      { title: 'SETTINGS' },
    ],
    lanes.map((lane) => [
      { text: lane.name, style: 'bold' as const },
      laneState(lane),
      { text: `${lane.running}/${lane.slots}`, style: lane.running === 0 ? ('dim' as const) : null },
      number(lane.queued - lane.scheduled),
      number(lane.scheduled),
      number(lane.blocked),
      ...more(lane),
    ]),
    view,
    indent,
  );
}

function settingsOf(lane: Lane): string {
  const parts = [
    lane.timeoutMs === null ? '' : `timeout ${formatDuration(lane.timeoutMs)}`,
    lane.cancelGraceMs === null ? '' : `grace ${formatDuration(lane.cancelGraceMs)}`,
    lane.maxRetries === null ? '' : sayCount(lane.maxRetries, 'retry', 'retries'),
    lane.retryDelayMs === null ? '' : `backoff ${formatDuration(lane.retryDelayMs)}`,
    lane.retryMaxDelayMs === null ? '' : `backoff up to ${formatDuration(lane.retryMaxDelayMs)}`,
    lane.pauseOnFailure ? 'pauses on failure' : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function laneState(lane: Lane): Cell {
  if (lane.paused) return { text: '‖ paused', style: 'yellow' };
  if (lane.running >= lane.slots) return { text: '● full', style: 'blue' };
  return lane.running > 0 ? { text: '▶ running', style: 'blue' } : { text: '○ open', style: 'dim' };
}

function workerTable(workers: readonly Worker[], view: View, indent: string): string[] {
  return table(
    [
      { title: 'WORKER', shrinkTo: 10 },
      { title: 'KIND' },
      { title: 'PID', align: 'right' },
      { title: 'RUNNING', align: 'right' },
      { title: 'SINCE' },
      { title: 'SEEN' },
      { title: 'LANES', shrinkTo: 8 },
    ],
    workers.map((worker) => [
      worker.id,
      worker.kind === 'server' ? 'server' : 'lane work',
      String(worker.pid),
      `${worker.running}/${worker.concurrency}`,
      sayMoment(worker.startedAt, view.now),
      sayMoment(worker.heartbeatAt, view.now),
      worker.lanes === null ? 'all' : worker.lanes.join(', '),
    ]),
    view,
    indent,
  );
}

export function workspaceTable(workspaces: readonly Workspace[], view: View): string[] {
  if (workspaces.length === 0) return ['No workspace has a queue.'];
  return table(
    [
      { title: 'STATE' },
      { title: 'LIVE', align: 'right' },
      { title: 'ENDED', align: 'right' },
      { title: 'SERVER' },
      { title: 'WORKSPACE', shrinkTo: 20 },
    ],
    workspaces.map(({ path, state, counts, serverPid }) => [
      state === 'present' ? { text: '✔ present', style: 'green' } : { text: '✖ missing', style: 'red' },
      counts === null ? '?' : sayNumber(counts.blocked + counts.queued + counts.running),
      counts === null ? '?' : sayNumber(counts.done + counts.dead + counts.canceled),
      serverPid === null ? '' : `pid ${serverPid}`,
      path,
    ]),
    view,
  );
}

const CHECKS = {
  ok: ['✔ ok', 'green'],
  warn: ['! warn', 'yellow'],
  fail: ['✖ fail', 'red'],
} as const;

/** The checks of `doctor`, each that is not ok with its way out. */
export function checkLines(checks: readonly Check[], view: View): string[] {
  return checks.flatMap(({ id, status, message, hint }) => {
    const [text, style] = CHECKS[status];
    const line = `${paint(view, style, text.padEnd(6))}  ${escapeControls(id)}: ${escapeControls(message)}`;
    return hint === null || status === 'ok' ? [line] : [line, `        ${escapeControls(hint)}`];
  });
}
