/** P3: jobs a second from queue to recorded end, durable and with their output kept, in spawns of `true`. */
import fs from 'node:fs';
import path from 'node:path';
import { Events, EventsHint, Pause, Resume, Subscribe, Unsubscribe } from '../../shared/protocol.ts';
import { type Subject, interleave } from '../lib/interleave.ts';
import type { Bench, Measurement } from '../lib/measurement.ts';
import { installedPeers } from '../lib/peers.ts';
import { addMany, pauseLane, place, type Served, served, setSlots } from '../lib/place.ts';
import type { Row } from '../lib/rows.ts';
import { createSpawner, type Spawner } from '../lib/spawner.ts';
import { median, pairedRatio } from '../lib/stats.ts';

const LANE = 'work';

export const p03: Measurement = {
  id: 'P3',
  title: 'jobs a second',
  run: (bench) =>
    served(place(bench.scratch, 'rate'), async (server) => {
      await pauseLane(server, LANE);
      const spawner = createSpawner();
      try {
        const rows: Omit<Row, 'id'>[] = [];
        for (const atOnce of [1, 2, 8]) {
          await setSlots(server, LANE, atOnce);
          rows.push(...(await atRate(bench, server, spawner, atOnce)));
        }
        return rows;
      } finally {
        spawner.stop();
      }
    }),
};

async function atRate(bench: Bench, server: Served, spawner: Spawner, atOnce: number): Promise<Omit<Row, 'id'>[]> {
  const jobs = bench.pick(200, 100);
  const folder = path.join(bench.scratch, 'spawned');
  const perSecond = (ms: number): number => (jobs * 1000) / ms;
  const peers: Record<string, Subject> = {};
  for (const peer of installedPeers()) {
    if (bench.quick || (peer.name === 'nq' && atOnce > 1)) continue;
    peers[peer.name] = async () => {
      const own = fs.mkdtempSync(path.join(bench.scratch, 'peer-'));
      const took = (await peer.run(jobs, atOnce, own)) ?? Number.NaN;
      fs.rmSync(own, { recursive: true, force: true });
      return perSecond(took);
    };
  }
  const subjects: Record<string, Subject> = {
    raw: async () => perSecond(await spawner.measure({ how: 'raw', jobs, atOnce, folder })),
    laneway: async () => perSecond(await run(server, jobs)),
    execa: async () => perSecond(await spawner.measure({ how: 'execa', jobs, atOnce, folder })),
  };
  const { raw = [], laneway = [], execa = [] } = await interleave(subjects, { rounds: bench.pick(6, 2) });
  const told = await interleave(peers, { rounds: 2, warmUp: 0 });
  const value = median(laneway);
  const row = (what: string, than: string, values: number[]) => ({
    what: `${what}, ${atOnce} at a time`,
    value,
    unit: 'jobs/s',
    beside: { what: than, value: median(values) },
    ratio: values.length === laneway.length ? pairedRatio(laneway, values) : value / median(values),
  });
  return [
    {
      ...row('jobs end to end', 'raw spawn', raw),
      target: { of: 'ratio', atLeast: atOnce === 1 ? 0.75 : 0.65 },
    },
    row('the same', 'execa', execa),
    ...Object.entries(told).map(([name, values]) => row('the same', name, values)),
  ];
}

/**
 * Milliseconds from letting the jobs run until the end of the last is written, by the ledger's own
 * stamps: nobody asks meanwhile, since every answer would cost the server time. A hint says when all is over.
 */
async function run({ connection, workspace }: Served, jobs: number): Promise<number> {
  await connection.request(Pause, { lanes: [LANE] });
  await addMany(connection, jobs, { argv: ['true'], lane: LANE }, workspace);
  const { cursor } = await connection.request(Subscribe, null);
  const ended = new Promise<void>((resolve) => {
    const off = connection.on(EventsHint, ({ counts }) => {
      if (counts.queued + counts.running > 0) return;
      off();
      resolve();
    });
  });
  await connection.request(Resume, { lanes: [LANE] });
  await ended;
  await connection.request(Unsubscribe, null);
  const { events } = await connection.request(Events, { since: cursor, limit: 10_000 });
  const at = events.filter(({ type }) => type === 'lane_changed' || type === 'succeeded').map((event) => event.at);
  if (at.length !== jobs + 1) throw new Error(`${at.length - 1} of ${jobs} jobs ended well`);
  return Date.parse(at.at(-1) ?? '') - Date.parse(at[0] ?? '');
}
