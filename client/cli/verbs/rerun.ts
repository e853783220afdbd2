import { LanewayError } from '../../../shared/errors.ts';
import { Rerun } from '../../../shared/protocol.ts';
import { escapeControls } from '../../../shared/text.ts';
import { paint, viewOf } from '../render/view.ts';
import { title } from '../render/words.ts';
import { refsOf } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'rerun',
  summary: 'Add ended jobs anew, as new jobs',
  usage: ['lane rerun ID…'],
  details: ['The new job has the same command, folder, environment and settings, but neither key nor needs.'],
  flags: {},
  examples: [
    { line: 'lane rerun 12', says: 'The same command once more, as a new job' },
    { line: 'lane rerun label:nightly', says: 'The newest job so labelled' },
  ],
  async run(context, { words }) {
    const { jobs, results } = await context.request(Rerun, { jobs: refsOf(words, 'rerun') });
    if (context.json) context.print({ jobs });
    else {
      const view = viewOf(context);
      for (const job of jobs) {
        context.out(`${paint(view, 'bold', String(job.id))}  ${title(job)} (rerun of ${job.rerunOf})\n`);
      }
    }
    const failed = results.filter(({ error }) => error !== null);
    const [first] = failed;
    if (!first?.error) return 0;
    if (failed.length === 1) throw new LanewayError(first.error.code, first.error.message, first.error.hint);
    const ids = failed.map(({ id }) => escapeControls(String(id))).join(', ');
    throw new LanewayError(
      first.error.code,
      `${failed.length} of ${results.length} jobs were not rerun (${ids}); the first: ${first.error.message}`,
      first.error.hint,
    );
  },
});
