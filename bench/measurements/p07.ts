/** P7: what an idle server costs while a window is connected and jobs wait in a paused lane. */
import { setTimeout as pause } from 'node:timers/promises';
import { Subscribe } from '../../shared/protocol.ts';
import type { Measurement } from '../lib/measurement.ts';
import { addMany, pauseLane, place, served } from '../lib/place.ts';
import { cpuMs } from '../lib/processes.ts';

const JOBS = 5000;

export const p07: Measurement = {
  id: 'P7',
  title: 'idle processor time',
  run: (bench) =>
    served(place(bench.scratch, 'idle'), async (server) => {
      const { connection, workspace, pid } = server;
      await pauseLane(server, 'still');
      await addMany(connection, JOBS, { argv: ['true'], lane: 'still' }, workspace);
      await connection.request(Subscribe, null);
      // What adding left behind (a collection of garbage, a checkpoint) is over.
      await pause(4000);
      const before = cpuMs(pid);
      const began = performance.now();
      await pause(bench.pick(12_000, 3000));
      const after = cpuMs(pid);
      if (before === null || after === null) {
        bench.note('not measured: there is no /proc here');
        return [];
      }
      const share = ((after - before) / (performance.now() - began)) * 100;
      const target = { of: 'value' as const, atMost: 0.1 };
      return [
        { what: `server, ${JOBS} queued in a paused lane, one window`, value: share, unit: '% of a core', target },
      ];
    }),
};
