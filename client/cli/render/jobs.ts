/** Lists of jobs, and the results of verbs that take several. */
import { sayCount } from '../../../shared/format.ts';
import type { Job } from '../../../shared/job.ts';
import type { JobResult, Revived } from '../../../shared/protocol.ts';
import { escapeControls } from '../../../shared/text.ts';
import { table, type Column } from './table.ts';
import { paint, type View } from './view.ts';
import { commandOf, moment, remark, stateCell, stateText, title } from './words.ts';

const COLUMNS: readonly Column[] = [
  { title: 'ID', align: 'right' },
  { title: 'STATE' },
  { title: 'LANE', shrinkTo: 7, most: 24 },
  { title: 'WHEN' },
  { title: 'NOTE', shrinkTo: 10, most: 32 },
  { title: 'JOB', shrinkTo: 16 },
];

/** Jobs as a table in the order given. */
export function jobTable(jobs: readonly Job[], view: View, indent = ''): string[] {
  const rows = jobs.map((job) => [
    { text: String(job.id), style: 'bold' as const },
    stateCell(job.phase),
    job.lane,
    { text: moment(job, view), style: 'dim' as const },
    { text: remark(job, view), style: 'dim' as const },
    job.label === null ? commandOf(job) : `${job.label}: ${commandOf(job)}`,
  ]);
  return table(COLUMNS, rows, view, indent);
}

/** A page of the list, with the way to the next one. */
export function jobList(
  page: { jobs: readonly Job[]; nextCursor: string | null },
  more: string,
  filtered: boolean,
  view: View,
): string[] {
  if (page.jobs.length === 0) return [filtered ? 'No jobs match.' : 'No jobs.'];
  const lines = jobTable(page.jobs, view);
  if (page.nextCursor !== null) lines.push('', paint(view, 'dim', `There are more: ${more}`));
  return lines;
}

/** One job in one line: `12  ✔ done  npm test`. */
export function jobLine(job: Job, view: View): string {
  return `${paint(view, 'bold', String(job.id))}  ${stateText(job.phase, view)}  ${title(job)}`;
}

/**
 * The results of a verb over several jobs: what worked as lines for stdout, what did not for stderr.
 * `verb` is said of each that worked: `retried`, `canceled`.
 */
export function resultLines(
  results: readonly JobResult[],
  says: (result: JobResult) => string,
  view: View,
): { out: string[]; errors: string[] } {
  const out: string[] = [];
  const errors: string[] = [];
  for (const result of results) {
    const name = paint(view, 'bold', escapeControls(String(result.id)));
    if (result.error === null) out.push(`${name}  ${says(result)}`);
    else {
      const { message, hint } = result.error;
      const named = message.includes(`job ${result.id} `) ? '' : `${escapeControls(String(result.id))}: `;
      errors.push(`lane: ${named}${escapeControls(message)}`);
      if (hint !== null) errors.push(`  ${escapeControls(hint)}`);
    }
  }
  if (results.length === 0) out.push('No jobs match.');
  else if (out.length > 20) out.push(sayCount(out.length, 'job'));
  return { out, errors };
}

/** What came back with the jobs that a retry names: `8  blocked  rerun of 5`. The first of many, and how many more. */
export function revivedLines(revived: readonly Revived[], view: View): string[] {
  const shown = revived.slice(0, 20).map(({ id, state, rerunOf }) => {
    const how = rerunOf === null ? 'brought back' : `rerun of ${rerunOf}`;
    return `${paint(view, 'bold', String(id))}  ${state ?? 'gone'}  ${how}`;
  });
  const more = revived.length - shown.length;
  if (more > 0) shown.push(`and ${sayCount(more, 'job')} more brought back with them`);
  return shown;
}
