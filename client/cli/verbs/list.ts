import { MAX_LIST } from '../../../shared/limits.ts';
import { List } from '../../../shared/protocol.ts';
import { quotePosix } from '../../../shared/shell.ts';
import { text, whole } from '../args.ts';
import { jobList } from '../render/jobs.ts';
import { viewOf } from '../render/view.ts';
import { laneFlag, noWords, stateFlag, tagFlag, tagsOf } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'list',
  aliases: ['ls'],
  summary: 'List jobs, newest first',
  usage: ['lane list [flags]'],
  details: [
    'States: blocked, queued, running, done, dead, canceled; of queued jobs also ready, scheduled and retrying. The words of other tools work too: active, succeeded, cancelled, and failed for retrying or dead.',
  ],
  flags: {
    state: stateFlag('Only jobs in these states'),
    lane: laneFlag('Only jobs of this lane'),
    tag: tagFlag('Only jobs with this tag; repeatable, all must match'),
    key: text('S', 'Only jobs with this key'),
    limit: whole('N', 'Jobs per page (default 50)', 1, MAX_LIST),
    cursor: text('C', 'The page after: nextCursor of the page before'),
  },
  examples: [
    { line: 'lane list', says: 'The 50 newest jobs' },
    { line: 'lane ls --state running,queued', says: 'What runs and what waits' },
    { line: 'lane list --lane build --state failed', says: 'What went wrong in one lane' },
    { line: 'lane list --json --limit 1000', says: 'A page for a program' },
  ],
  async run(context, { flags, words }) {
    noWords(words, 'list');
    const page = await context.request(List, {
      states: flags.state,
      lane: flags.lane,
      tags: tagsOf(flags.tag),
      key: flags.key,
      limit: flags.limit,
      cursor: flags.cursor,
    });
    if (context.json) context.print({ jobs: page.jobs, nextCursor: page.nextCursor });
    else {
      const filters = [
        ...(flags.state ? ['--state', flags.state.join(',')] : []),
        ...(flags.lane ? ['--lane', flags.lane] : []),
        ...flags.tag.flatMap(([key, value]) => ['--tag', `${key}=${value}`]),
        ...(flags.key ? ['--key', flags.key] : []),
        ...(flags.limit ? ['--limit', String(flags.limit)] : []),
      ];
      const filtered = flags.state !== null || flags.lane !== null || flags.tag.length > 0 || flags.key !== null;
      const more = ['lane list', ...filters.map(quotePosix), '--cursor', page.nextCursor ?? ''].join(' ');
      context.out(`${jobList(page, more, filtered, viewOf(context)).join('\n')}\n`);
    }
    return 0;
  },
});
