/** The icon of everything the trees show. Colours are theme colours, so every theme and contrast fits. */
import type { Attempt } from '../../../shared/job.ts';
import { type Group, groupOf } from './groups.ts';
import type { Node } from './nodes.ts';

export interface Icon {
  /** A codicon. */
  id: string;
  color: string | null;
}

/** The icon of every node, in one place. */
export function iconOf(node: Node): Icon | null {
  switch (node.kind) {
    case 'folder':
      return { id: 'folder', color: null };
    case 'lane':
      return node.lane.paused ? { id: 'debug-pause', color: 'charts.yellow' } : { id: 'list-ordered', color: null };
    case 'group':
      return stateIcon(node.group);
    case 'job':
      return stateIcon(groupOf(node.job));
    case 'attempt':
      return attemptIcon(node.attempt);
    case 'stage':
      return { id: 'check', color: 'testing.iconPassed' };
    case 'more':
      return { id: 'ellipsis', color: null };
    case 'note':
      return node.trouble ? { id: 'warning', color: 'list.warningForeground' } : { id: 'info', color: null };
  }
}

export function stateIcon(group: Group): Icon {
  switch (group) {
    case 'running':
      return { id: 'sync~spin', color: 'charts.blue' };
    case 'queued':
      return { id: 'circle-outline', color: 'charts.foreground' };
    case 'scheduled':
      return { id: 'watch', color: 'charts.purple' };
    case 'blocked':
      return { id: 'lock', color: 'charts.yellow' };
    case 'dead':
      return { id: 'error', color: 'testing.iconFailed' };
    case 'done':
      return { id: 'pass', color: 'testing.iconPassed' };
    case 'canceled':
      return { id: 'circle-slash', color: 'testing.iconSkipped' };
  }
}

function attemptIcon(attempt: Attempt): Icon {
  switch (attempt.state) {
    case 'running':
      return { id: 'sync~spin', color: 'charts.blue' };
    case 'succeeded':
      return { id: 'pass', color: 'testing.iconPassed' };
    case 'failed':
      return { id: 'error', color: 'testing.iconFailed' };
    case 'timed_out':
      return { id: 'watch', color: 'testing.iconFailed' };
    case 'abandoned':
      return { id: 'debug-disconnect', color: 'list.warningForeground' };
    case 'canceled':
      return { id: 'circle-slash', color: 'testing.iconSkipped' };
  }
}
