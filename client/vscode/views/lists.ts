/** Which lists stand under a lane and under a state group. Pure. */
import type { ListQuery } from '../jobLists.ts';
import type { Group } from './groups.ts';

/** Under a lane: what runs, what comes next in its order, what is blocked, what ended lately. */
export function laneQueries(lane: string, text: string): ListQuery[] {
  return [
    { states: ['running'], lane, text, order: 'newest' },
    { states: ['queued'], lane, text, order: 'claim' },
    { states: ['blocked'], lane, text, order: 'newest' },
    { states: ['dead', 'done', 'canceled'], lane, text, order: 'newest' },
  ];
}

/** The list of one group of the states view. */
export function groupQuery(group: Group, text: string): ListQuery {
  switch (group) {
    case 'queued':
      return { states: ['ready'], lane: null, text, order: 'claim' };
    case 'scheduled':
      return { states: ['scheduled'], lane: null, text, order: 'claim' };
    case 'running':
    case 'blocked':
    case 'dead':
    case 'done':
    case 'canceled':
      return { states: [group], lane: null, text, order: 'newest' };
  }
}
