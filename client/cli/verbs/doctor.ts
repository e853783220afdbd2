import { toggle } from '../args.ts';
import { checkLines } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { noWords } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'doctor',
  summary: 'Check the queue, its database and its surroundings',
  usage: ['lane doctor [--deep]'],
  details: ['Runs in this process and starts no server. The exit status is 3 when a check fails.'],
  flags: { deep: toggle('Also every row against every rule: takes longer on a large queue') },
  examples: [
    { line: 'lane doctor', says: 'Is everything as it should be' },
    { line: 'lane doctor --deep --json', says: 'Every invariant, for a program' },
  ],
  async run(context, { flags, words }) {
    noWords(words, 'doctor');
    const { ok, checks } = await context.server().doctor({ workspace: context.workspace, deep: flags.deep });
    if (context.json) context.print({ ok, checks });
    else {
      const lines = [
        ...checkLines(checks, viewOf(context)),
        '',
        ok ? 'All is well.' : 'Something is wrong: see above.',
      ];
      context.out(`${lines.join('\n')}\n`);
    }
    return ok ? 0 : 3;
  },
});
