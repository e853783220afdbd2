/** P12: the extension's own work in the editor's extension host: at activation, and when a thousand jobs change. */
import path from 'node:path';
import { type Measurement, programs } from '../lib/measurement.ts';
import { place } from '../lib/place.ts';
import { askScript } from '../lib/processes.ts';
import { median } from '../lib/stats.ts';

export const p12: Measurement = {
  id: 'P12',
  title: 'the extension',
  async run(bench) {
    const { env, workspace } = place(bench.scratch, 'editor');
    const host = path.join(programs, 'extensionHost.ts');
    const starts: Figures[] = [];
    // Each in a process of its own: activation happens once, with nothing compiled yet.
    for (let i = 0; i < bench.pick(9, 3); i += 1)
      starts.push((await askScript(host, [], { ...env, LANEWAY_BENCH_FOLDER: workspace })) as Figures);
    const of = (name: keyof Figures): number => median(starts.map((one) => one[name]));
    bench.note('an editor that does nothing stands in; `npm test -- vscode-suite` looks at the real one');
    const row = (what: string, value: number, atMost?: number) => ({
      what,
      value,
      unit: 'ms',
      ...(atMost === undefined ? {} : { target: { of: 'value' as const, atMost } }),
    });
    return [
      row('loading the extension’s bundle', of('loadMs')),
      row('activation’s own work', of('activateMs'), 50),
      row('tree refresh of 1,000 changed jobs, all of them shown', of('refreshMs'), 16),
    ];
  },
};

interface Figures {
  loadMs: number;
  activateMs: number;
  refreshMs: number;
}
