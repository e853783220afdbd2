/**
 * Random dependency graphs, with the server killed while they run: each job ends as the graph says,
 * whatever died on the way, and none starts before what it needs has ended.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { JobState, NeedPolicy } from '../../shared/job.ts';
import * as P from '../../shared/protocol.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { withSeed } from './random.ts';
import { crashQueue, type CrashQueue, PATIENCE, skip } from './support.ts';

interface Node {
  exits: 0 | 1;
  policy: NeedPolicy;
  /** Taken modulo the number of earlier nodes. */
  needs: number[];
}

const graph = fc.array(
  fc.record<Node>({
    exits: fc.constantFrom(0, 0, 0, 1),
    policy: fc.constantFrom('cancel', 'cancel', 'dead', 'release'),
    needs: fc.array(fc.nat(100), { maxLength: 3 }),
  }),
  { minLength: 8, maxLength: 24 },
);
/** After how many more events the server is killed. */
const kills = fc.array(fc.nat(25), { minLength: 3, maxLength: 6 });

function needsOf(node: Node, index: number): number[] {
  return index === 0 ? [] : [...new Set(node.needs.map((need) => need % index))];
}

/** How each node must end. */
function endsOf(nodes: Node[]): JobState[] {
  const ends: JobState[] = [];
  for (const [index, node] of nodes.entries()) {
    const isBad = needsOf(node, index).some((need) => ends[need] !== 'done');
    if (isBad && node.policy !== 'release') ends.push(node.policy === 'dead' ? 'dead' : 'canceled');
    else ends.push(node.exits === 0 ? 'done' : 'dead');
  }
  return ends;
}

async function run(queue: CrashQueue, nodes: Node[], killAfter: number[]): Promise<void> {
  const begin = await queue.cursor();
  const jobs = nodes.map((node, index) =>
    queue.sh(`exit ${node.exits}`, {
      onNeedFailure: node.policy,
      needs: needsOf(node, index).map((need) => ({ line: need + 1 })),
    }),
  );
  const ids = await queue.add(...jobs);
  const isOver = async (): Promise<boolean> => {
    const { counts } = await queue.own.request(P.StatusRequest, null);
    return counts.blocked + counts.queued + counts.running === 0;
  };
  for (const after of killAfter) {
    const server = queue.server();
    await queue.moves(after, isOver);
    await queue.kill(server);
  }
  const last = queue.server();
  await waitFor(isOver, { ...PATIENCE, what: 'the graph to end' });
  await queue.kill(last);
  const ended = await Promise.all(ids.map((id) => queue.job(id)));
  assert.deepEqual(
    ended.map(({ state }) => state),
    endsOf(nodes),
  );
  const events = (await queue.events()).filter(({ id }) => id > begin);
  for (const [index, node] of nodes.entries()) {
    const started = events.find(({ jobId, type }) => jobId === ids[index] && type === 'claimed')?.id;
    if (started === undefined) continue;
    for (const need of needsOf(node, index)) {
      const end = events.find(
        ({ jobId, type }) => jobId === ids[need] && ['succeeded', 'dead', 'canceled'].includes(type),
      );
      assert.ok((end?.id ?? Number.POSITIVE_INFINITY) < started, `job ${ids[index]} began before ${ids[need]} ended`);
    }
  }
}

describe('graphs under kills', { skip, concurrency: 2 }, () => {
  for (const nth of [1, 2]) {
    test(`queue ${nth}: every job ends as its graph says`, (t) =>
      withSeed(4200 + nth, async (seed) => {
        const queue = await crashQueue(t);
        await fc.assert(
          fc.asyncProperty(graph, kills, (nodes, killAfter) => run(queue, nodes, killAfter)),
          // Not shrunk: with the instants of the kills another run is another story.
          { seed, numRuns: 5, endOnFailure: true },
        );
        t.diagnostic(`${queue.kills} kills`);
        await queue.settle();
      }));
  }
});
