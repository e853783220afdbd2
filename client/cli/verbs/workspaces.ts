import path from 'node:path';
import { LanewayError } from '../../../shared/errors.ts';
import type { Workspace } from '../../../shared/job.ts';
import { quoteArgv } from '../../../shared/shell.ts';
import { escapeControls, quoteValue } from '../../../shared/text.ts';
import { didYouMean, invalid, toggle } from '../args.ts';
import { confirm } from '../confirm.ts';
import { workspaceTable } from '../render/status.ts';
import { viewOf } from '../render/view.ts';
import { verb, type Context } from '../verb.ts';

const ACTIONS = { move: 2, remove: 1, adopt: 1, release: 1 } as const;
type Action = keyof typeof ACTIONS;

export default verb({
  name: 'workspaces',
  summary: 'List the workspaces that have a queue; move or remove a queue',
  usage: [
    'lane workspaces',
    'lane workspaces move OLD NEW',
    'lane workspaces remove PATH',
    'lane workspaces adopt PATH',
    'lane workspaces release PATH',
  ],
  subwords: Object.keys(ACTIONS),
  details: [
    'A queue belongs to the path of its workspace. After a folder was moved or renamed, "move" brings its queue along, in place of one at NEW that never had a job; "adopt" lets another folder that now stands at the path have the queue found there. "remove" deletes a queue with its logs.',
    'A queue whose jobs run in another container or on another machine is not touched here. When that is gone for good, "release" says so: its jobs are then taken up here, as after a crash.',
  ],
  flags: { yes: toggle('Do not ask before a queue is removed or released') },
  examples: [
    { line: 'lane workspaces', says: 'Every queue of this account' },
    { line: 'lane workspaces move ~/old-name ~/new-name', says: 'Bring the queue along after a rename' },
    { line: 'lane workspaces remove ~/gone --yes', says: 'Delete a queue and its logs' },
  ],
  async run(context, { flags, words }) {
    const [action, ...paths] = words;
    const { env } = context;
    if (action === undefined) {
      const workspaces = await context.server().workspacesList({ env });
      const status = print(context, workspaces);
      if (!context.json) offerMissing(context, workspaces);
      return status;
    }
    if (!isAction(action)) {
      throw invalid(
        `lane workspaces knows no ${quoteValue(action)}`,
        didYouMean(action, Object.keys(ACTIONS)) ?? `Use one of ${Object.keys(ACTIONS).join(', ')}.`,
      );
    }
    const [first, second] = paths.map((given) => path.resolve(context.cwd, given));
    if (paths.length !== ACTIONS[action] || first === undefined || paths.includes('')) {
      throw invalid(
        `lane workspaces ${action} takes ${ACTIONS[action] === 2 ? 'two paths' : 'one path'}`,
        `Write: lane workspaces ${action} ${action === 'move' ? 'OLD NEW' : 'PATH'}.`,
      );
    }
    const server = context.server();
    switch (action) {
      case 'move':
        return print(context, [await server.workspacesMove({ from: first, to: second ?? '', env })]);
      case 'adopt':
        return print(context, [await server.workspacesAdopt({ path: first, env })]);
      case 'remove': {
        if (!flags.yes && !(await confirm(context, `Delete the queue of ${quoteValue(first)} with all its logs?`))) {
          throw new LanewayError(
            'REFUSED',
            'the queue and its logs would be deleted; nothing was',
            'Say --yes to delete.',
          );
        }
        return print(context, [await server.workspacesRemove({ path: first, env })]);
      }
      case 'release': {
        const question = `Is everything gone that another machine or container ran for ${quoteValue(first)}?`;
        if (!flags.yes && !(await confirm(context, question))) {
          throw new LanewayError(
            'REFUSED',
            'what still runs elsewhere would run twice; nothing was changed',
            'Say --yes when it is gone for good.',
          );
        }
        return print(context, [await server.workspacesRelease({ path: first, env })]);
      }
      default:
        return action satisfies never;
    }
  },
});

function isAction(word: string): word is Action {
  return Object.hasOwn(ACTIONS, word);
}

function print(context: Context, workspaces: Workspace[]): number {
  if (context.json) context.print({ workspaces });
  else context.out(`${workspaceTable(workspaces, viewOf(context)).join('\n')}\n`);
  return 0;
}

/** A queue whose folder is gone is kept until somebody says what became of it. */
function offerMissing(context: Context, workspaces: Workspace[]): void {
  const gone = workspaces.find(({ state }) => state === 'missing');
  if (gone === undefined) return;
  const place = escapeControls(quoteArgv([gone.path], process.platform));
  context.note(`Missing, because it was moved? lane workspaces move ${place} NEW`);
  context.note(`Gone for good? lane workspaces remove ${place}`);
}
