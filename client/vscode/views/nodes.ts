/** The nodes of the two trees. What is to be shown of each: `describe.ts`. */
import type { Attempt, Checkpoint, Job, Lane } from '../../../shared/job.ts';
import type { Queue } from '../context.ts';
import type { ListQuery } from '../jobLists.ts';
import type { Group } from './groups.ts';

interface Base {
  /** Stable while the thing exists: expansion and selection hang on it. */
  readonly id: string;
  readonly queue: Queue;
}
export interface FolderNode extends Base {
  readonly kind: 'folder';
}
export interface LaneNode extends Base {
  readonly kind: 'lane';
  /** The queue has no other lane. */
  readonly alone: boolean;
  lane: Lane;
}
export interface GroupNode extends Base {
  readonly kind: 'group';
  readonly group: Group;
  count: number;
}
export interface JobNode extends Base {
  readonly kind: 'job';
  job: Job;
  /** Made when first shown: what a job runs never changes. */
  title?: string;
}
export interface AttemptNode extends Base {
  readonly kind: 'attempt';
  job: Job;
  attempt: Attempt;
  stages: Checkpoint[];
}
export interface StageNode extends Base {
  readonly kind: 'stage';
  stage: Checkpoint;
}
export interface MoreNode extends Base {
  readonly kind: 'more';
  readonly query: ListQuery;
}
/** A sentence in a tree's place, e.g. that reading failed. */
export interface NoteNode extends Base {
  readonly kind: 'note';
  text: string;
  /** Whether something is wrong; else it only says how things are. */
  trouble: boolean;
  /** What a click does about it. */
  command?: { id: string; title: string };
}
export type Node = FolderNode | LaneNode | GroupNode | JobNode | AttemptNode | StageNode | MoreNode | NoteNode;
