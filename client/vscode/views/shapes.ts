/** What the two trees put on top of a queue: its lanes, or the groups of states. Without `vscode`. */
import type { Queue } from '../context.ts';
import type { Shape } from './jobTree.ts';
import { groupQuery, laneQueries } from './lists.ts';
import { groupCount, GROUPS } from './groups.ts';
import type { GroupNode, LaneNode, Node } from './nodes.ts';

/** Lanes, then their jobs. `filter` gives the text that jobs must contain; empty for all. */
export function lanesShape(filter: () => string): Shape {
  return {
    async top(queue) {
      await queue.cache.loadLanes();
      return laneNodes(queue);
    },
    below: (node) => (node.kind === 'lane' ? laneQueries(node.lane.name, filter()) : []),
    update(queue, nodes) {
      const touched: Node[] = [];
      if (!queue.cache.lanesLoaded) return { touched, others: false };
      const wanted = laneNodes(queue);
      let known = 0;
      for (const node of nodes.values()) if (node.kind === 'lane' && node.queue === queue) known += 1;
      for (const fresh of wanted) {
        const node = nodes.get(fresh.id);
        if (node?.kind !== 'lane') return { touched, others: true };
        if (JSON.stringify(node.lane) === JSON.stringify(fresh.lane)) continue;
        node.lane = fresh.lane;
        touched.push(node);
      }
      return { touched, others: known !== wanted.length };
    },
  };
}

/** States, then their jobs. An empty queue shows none, so that the welcome can be seen. */
export function statesShape(filter: () => string): Shape {
  return {
    top: (queue) => Promise.resolve(groupNodes(queue)),
    below: (node) => (node.kind === 'group' ? [groupQuery(node.group, filter())] : []),
    update(queue, nodes) {
      const touched: Node[] = [];
      const wanted = groupNodes(queue);
      if (wanted.length === 0) {
        const others = [...nodes.values()].some((node) => node.kind === 'group' && node.queue === queue);
        return { touched, others };
      }
      for (const fresh of wanted) {
        const node = nodes.get(fresh.id);
        if (node?.kind !== 'group') return { touched, others: true };
        if (node.count === fresh.count) continue;
        node.count = fresh.count;
        touched.push(node);
      }
      return { touched, others: false };
    },
  };
}

function laneNodes(queue: Queue): LaneNode[] {
  if (isEmpty(queue) && queue.cache.lanes.length <= 1) return [];
  const { lanes } = queue.cache;
  const alone = lanes.length === 1;
  return lanes.map((lane) => ({ kind: 'lane', id: `${queue.root}|lane ${lane.name}`, queue, alone, lane }));
}

function groupNodes(queue: Queue): GroupNode[] {
  const { hint } = queue.cache;
  if (!hint || isEmpty(queue)) return [];
  return GROUPS.map((group) => ({
    kind: 'group',
    id: `${queue.root}|state ${group}`,
    queue,
    group,
    count: groupCount(group, hint.counts, hint.scheduled),
  }));
}

/** No job at all, finished ones included. */
export function isEmpty(queue: Queue): boolean {
  const { counts } = queue.cache;
  return !counts || Object.values(counts).every((count) => count === 0);
}
