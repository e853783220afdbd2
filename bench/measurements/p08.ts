/** P8: what people look at costs the same in a small and in a very large queue. */
import path from 'node:path';
import type { Connection } from '../../shared/connection.ts';
import { Lanes, List, StatusRequest } from '../../shared/protocol.ts';
import { addWaiting, largePlace, sizes } from '../lib/bulk.ts';
import { interleave } from '../lib/interleave.ts';
import { dist, type Measurement } from '../lib/measurement.ts';
import { openDirect, openPlace, place, type Place, served } from '../lib/place.ts';
import { timeCommand } from '../lib/processes.ts';
import { median, pairedRatio } from '../lib/stats.ts';
import * as transitions from '../../server/store/transitions/index.ts';

/** Rows of a page: as many as the small queue has. */
const ROWS = 10;
/** Requests that one sample is the median of. */
const REQUESTS = 15;

const LOOKS: Record<string, (connection: Connection) => Promise<unknown>> = {
  list: (connection) => connection.request(List, { limit: ROWS }),
  status: (connection) => connection.request(StatusRequest, null),
  'first page of the tree': async (connection) => {
    await connection.request(Lanes, null);
    await connection.request(List, { states: ['queued'], lane: 'waiting', order: 'claim', limit: ROWS });
    await connection.request(List, { states: ['dead', 'done', 'canceled'], limit: ROWS });
  },
};

export const p08: Measurement = {
  id: 'P8',
  title: 'looking at a large queue',
  async run(bench) {
    const { finished, waiting } = sizes(bench);
    const large = await largePlace(bench);
    const small = place(bench.scratch, 'small');
    await fillSmall(small);
    const beside = `${finished.toLocaleString('en-US')} finished and ${waiting.toLocaleString('en-US')} queued`;
    const [a, b] = [await openDirect(small, false), await openDirect(large, false)];
    try {
      const rows = [];
      for (const [name, look] of Object.entries(LOOKS)) {
        const samples = await interleave(
          { small: () => repeated(() => look(a)), large: () => repeated(() => look(b)) },
          { rounds: bench.pick(25, 5), warmUp: 3 },
        );
        rows.push(row(`${name} beside ${beside}, same rows, in the server`, samples, 1.3));
      }
      for (const verb of [`list --limit ${ROWS}`, 'status'])
        rows.push(row(`lane ${verb} beside ${beside}`, await commands(verb), 1.3));
      return rows;
    } finally {
      await a.close();
      await b.close();
    }

    function commands(verb: string): Promise<{ small: number[]; large: number[] }> {
      return served(small, (one) =>
        served(large, (other) => {
          const lane =
            ({ env, workspace }: Place) =>
            () =>
              timeCommand([process.execPath, path.join(dist, 'cli.js'), ...verb.split(' ')], { env, cwd: workspace });
          return interleave({ small: lane(one), large: lane(other) }, { rounds: bench.pick(15, 5) });
        }),
      );
    }
  },
};

function row(what: string, samples: { small: number[]; large: number[] }, atMost: number) {
  return {
    what,
    value: median(samples.large),
    unit: 'ms',
    beside: { what: 'with 10 jobs', value: median(samples.small) },
    ratio: pairedRatio(samples.large, samples.small),
    target: { of: 'ratio' as const, atMost },
  };
}

async function fillSmall(where: Place): Promise<void> {
  const store = await openPlace(where);
  try {
    await addWaiting(store, ROWS, 'ended');
    await store.write((tx) => transitions.cancel(tx, { all: true }));
    await store.write((tx) => {
      transitions.setLane(tx, 'waiting', {});
      transitions.pause(tx, ['waiting']);
    });
    await addWaiting(store, ROWS, 'waiting');
  } finally {
    await store.close();
  }
}

async function repeated(look: () => Promise<unknown>): Promise<number> {
  const took: number[] = [];
  for (let i = 0; i < REQUESTS; i += 1) {
    const began = performance.now();
    await look();
    took.push(performance.now() - began);
  }
  return median(took);
}
