/** P1: what a person waits for a short command, as a whole process, in starts of an empty Node. */
import path from 'node:path';
import { Cancel } from '../../shared/protocol.ts';
import { interleave } from '../lib/interleave.ts';
import { dist, type Measurement, programs } from '../lib/measurement.ts';
import { addMany, pauseLane, place, served } from '../lib/place.ts';
import { timeCommand } from '../lib/processes.ts';
import { median, pairedRatio } from '../lib/stats.ts';

/** Verbs that ask once and print, with what they are given here. Job 1 waits, job 2 is canceled. */
const VERBS: Record<string, string[]> = {
  add: ['add', '--lane', 'still', '--', 'true'],
  list: ['list'],
  show: ['show', '1'],
  status: ['status'],
  cancel: ['cancel', '2'],
  bump: ['bump', '1', '--priority', '1'],
  lanes: ['lanes'],
  events: ['events'],
};

export const p01: Measurement = {
  id: 'P1',
  title: 'start of the command line',
  run: (bench) =>
    served(place(bench.scratch, 'start'), async (server) => {
      const { env, workspace, paths, connection } = server;
      await pauseLane(server, 'still');
      await addMany(connection, 5, { argv: ['true'], lane: 'still' }, workspace);
      await connection.request(Cancel, { selection: { ids: [2] } });
      const node =
        (...argv: string[]) =>
        () =>
          timeCommand([process.execPath, ...argv], { env, cwd: workspace, stdio: ['ignore', 'ignore', 'pipe'] });
      const lane = path.join(dist, 'cli.js');
      const samples = await interleave(
        {
          bare: node('-e', '0'),
          dial: node(path.join(programs, 'dial.cjs'), paths.socket),
          ...Object.fromEntries(Object.entries(VERBS).map(([verb, argv]) => [verb, node(lane, ...argv)])),
        } as Record<string, () => Promise<number>>,
        { rounds: bench.pick(25, 5), warmUp: 2 },
      );
      const { bare = [] } = samples;
      const beside = { what: 'empty Node', value: median(bare) };
      return ['dial', ...Object.keys(VERBS)].map((name) => ({
        what: name === 'dial' ? 'Node that dials the socket, asks once and ends' : `lane ${name}`,
        value: median(samples[name] ?? []),
        unit: 'ms',
        beside,
        ratio: pairedRatio(samples[name] ?? [], bare),
        ...(name === 'dial' ? {} : { target: { of: 'ratio' as const, atMost: name === 'add' ? 1.2 : 1.3 } }),
      }));
    }),
};
