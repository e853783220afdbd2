import { Pause } from '../../../shared/protocol.ts';
import { invalid } from '../args.ts';
import { laneTable } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { parseLane } from '../selection.ts';
import { verb } from '../verb.ts';

export default verb({
  name: 'pause',
  summary: 'Let lanes start no more jobs; running ones go on',
  usage: ['lane pause NAME…'],
  flags: {},
  examples: [
    { line: 'lane pause build', says: 'Start nothing more in this lane' },
    { line: 'lane pause build test', says: 'Two lanes' },
  ],
  async run(context, { words }) {
    if (words.length === 0) throw invalid('no lane is named', 'Write: lane pause NAME; lane lanes lists them.');
    const names = [...new Set(words.map(parseLane))];
    const { lanes } = await context.request(Pause, { lanes: names });
    if (context.json) context.print({ lanes });
    else context.out(`${laneTable(lanes, viewOf(context)).join('\n')}\n`);
    return 0;
  },
});
