/** P11: many `lane add` at once, beside as many processes that only start Node and dial. */
import path from 'node:path';
import { StatusRequest } from '../../shared/protocol.ts';
import { interleave } from '../lib/interleave.ts';
import { dist, type Measurement, programs } from '../lib/measurement.ts';
import { pauseLane, place, served } from '../lib/place.ts';
import { timeCommand } from '../lib/processes.ts';
import { median, pairedRatio } from '../lib/stats.ts';

const AT_ONCE = 20;
/** Of one sample. */
const PROCESSES = 100;

export const p11: Measurement = {
  id: 'P11',
  title: 'adds from twenty processes at once',
  run: (bench) =>
    served(place(bench.scratch, 'crowd'), async (server) => {
      const { env, workspace, paths, connection } = server;
      await pauseLane(server, 'still');
      const lane = path.join(dist, 'cli.js');
      const all = async (argv: string[]): Promise<number> => {
        const began = performance.now();
        let left = PROCESSES;
        const one = async (): Promise<void> => {
          while (left-- > 0) await timeCommand([process.execPath, ...argv], { env, cwd: workspace });
        };
        await Promise.all(Array.from({ length: AT_ONCE }, one));
        return performance.now() - began;
      };
      const samples = await interleave(
        {
          adds: () => all([lane, 'add', '--lane', 'still', '--', 'true']),
          dials: () => all([path.join(programs, 'dial.cjs'), paths.socket]),
        },
        { rounds: bench.pick(10, 1), warmUp: 0 },
      );
      const { counts } = await connection.request(StatusRequest, null);
      const added = samples.adds.length * PROCESSES;
      if (counts.queued !== added) throw new Error(`${counts.queued} jobs of ${added} arrived`);
      return [
        {
          what: `${added} × lane add, ${AT_ONCE} at once, none failed; each`,
          value: median(samples.adds) / PROCESSES,
          unit: 'ms',
          beside: { what: 'Node that dials', value: median(samples.dials) / PROCESSES },
          ratio: pairedRatio(samples.adds, samples.dials),
          target: { of: 'ratio', atMost: 1.3 },
        },
      ];
    }),
};
