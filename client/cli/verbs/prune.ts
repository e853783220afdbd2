import { LanewayError } from '../../../shared/errors.ts';
import { sayBytes, sayCount } from '../../../shared/format.ts';
import type { StateFilter } from '../../../shared/job.ts';
import { Prune } from '../../../shared/protocol.ts';
import { duration, parseChoice, parsed, parseList, toggle } from '../args.ts';
import { noWords } from '../selection.ts';
import { verb } from '../verb.ts';

const PRUNABLE = ['done', 'dead', 'canceled', 'succeeded', 'cancelled'] as const satisfies readonly StateFilter[];

export default verb({
  name: 'prune',
  summary: 'Delete ended jobs with their logs',
  usage: ['lane prune --dry-run [flags]', 'lane prune --yes [flags]'],
  details: [
    'Without --dry-run or --yes nothing is deleted, and the exit status is 2. Jobs that live, and what they need, are never touched.',
  ],
  flags: {
    olderThan: duration('Only jobs that ended longer ago'),
    state: {
      ...parsed('S[,S]', 'Only jobs in these states: done, dead, canceled (default: done,canceled)', (given) =>
        parseList(given).map((word) => parseChoice(word, PRUNABLE)),
      ),
      choices: PRUNABLE,
    },
    dryRun: toggle('Only say what would be deleted'),
    yes: toggle('Delete'),
  },
  examples: [
    { line: 'lane prune --dry-run', says: 'How much would go' },
    { line: 'lane prune --older-than 7d --yes', says: 'What was done or canceled over a week ago' },
    { line: 'lane prune --state dead --yes', says: 'The dead ones' },
  ],
  async run(context, { flags, words }) {
    noWords(words, 'prune');
    if (!flags.dryRun && !flags.yes) {
      throw new LanewayError(
        'REFUSED',
        'prune deletes jobs and logs for good; nothing was deleted',
        'See what would go with --dry-run, or delete with --yes.',
      );
    }
    const { deleted, bytesFreed } = await context.request(Prune, {
      olderThanMs: flags.olderThan,
      states: flags.state,
      dryRun: flags.dryRun,
    });
    if (context.json) context.print({ deleted, bytesFreed });
    else {
      const said = `${sayCount(deleted, 'job')} and ${sayBytes(bytesFreed)} of logs`;
      context.out(flags.dryRun ? `${said} would be deleted.\n` : `${said} deleted.\n`);
    }
    return 0;
  },
});
