import { Resume } from '../../../shared/protocol.ts';
import { invalid } from '../args.ts';
import { laneTable } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { parseLane } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'resume',
  summary: 'Let paused lanes start jobs again',
  usage: ['lane resume NAME…'],
  flags: {},
  examples: [{ line: 'lane resume build', says: 'Go on where it was paused' }],
  async run(context, { words }) {
    if (words.length === 0) throw invalid('no lane is named', 'Write: lane resume NAME; lane lanes lists them.');
    const names = [...new Set(words.map(parseLane))];
    const { lanes } = await context.request(Resume, { lanes: names });
    if (context.json) context.print({ lanes });
    else context.out(`${laneTable(lanes, viewOf(context)).join('\n')}\n`);
    return 0;
  },
});
