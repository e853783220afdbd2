import { MAX_LIST } from '../../../shared/limits.ts';
import { Timeline } from '../../../shared/protocol.ts';
import { text, whole } from '../args.ts';
import { timelineTable } from '../render/events.ts';
import { paint, viewOf } from '../render/view.ts';
import { refOf } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'timeline',
  summary: 'What happened to one job: events and attempts, merged',
  usage: ['lane timeline ID [flags]'],
  flags: {
    cursor: text('C', 'The page after: nextCursor of the page before'),
    limit: whole('N', 'Entries per page (default 1000)', 1, MAX_LIST),
  },
  examples: [
    { line: 'lane timeline 12', says: 'Its whole history' },
    { line: 'lane timeline last --json', says: 'The same for a program' },
  ],
  async run(context, { flags, words }) {
    const job = refOf(words, 'timeline');
    const page = await context.request(Timeline, { job, cursor: flags.cursor, limit: flags.limit });
    if (context.json) context.print({ entries: page.entries, nextCursor: page.nextCursor });
    else {
      const view = viewOf(context);
      const lines = timelineTable(page.entries, view);
      if (page.nextCursor !== null) {
        lines.push('', paint(view, 'dim', `There is more: lane timeline ${job} --cursor ${page.nextCursor}`));
      }
      context.out(`${lines.join('\n')}\n`);
    }
    return 0;
  },
});
