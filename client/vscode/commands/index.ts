/** The commands as one table. Each returns its result; `extension.ts` turns a failure into a message. */
import type { Command } from '../context.ts';
import { outputCommands } from '../output/index.ts';
import { timelineCommands } from '../timeline/index.ts';
import { addAfter } from './addAfter.ts';
import { addFromTask } from './addFromTask.ts';
import { addHere } from './addHere.ts';
import { addJob } from './addJob.ts';
import { addSelection } from './addSelection.ts';
import { bumpJob } from './bumpJob.ts';
import { cancelAll } from './cancelAll.ts';
import { cancelJob } from './cancelJob.ts';
import { configureLane, setSlots } from './configureLane.ts';
import { copyCommand, copyId } from './copyCommand.ts';
import { editAndAddAgain } from './editAndAddAgain.ts';
import { findJob } from './findJob.ts';
import { installCli } from './installCli.ts';
import { openCwd } from './openCwd.ts';
import { openTerminal } from './openTerminal.ts';
import { pauseLane, resumeLane } from './pauseLane.ts';
import { pruneJobs } from './pruneJobs.ts';
import { removeQueues } from './removeQueues.ts';
import { rerunJob } from './rerunJob.ts';
import { restartServer, startServer } from './restartServer.ts';
import { retryAllDead } from './retryAllDead.ts';
import { retryJob, retryWithDependents } from './retryJob.ts';
import { showExtensionLog, showServerLog } from './showServerLog.ts';
import { showProgress } from './showProgress.ts';
import { showStatus } from './showStatus.ts';
import { type ViewControls, viewCommands } from './views.ts';

/** Every command that package.json contributes; a test compares the two. */
export function allCommands(controls: ViewControls): Command[] {
  return [
    addJob,
    addFromTask,
    addSelection,
    addHere,
    addAfter,
    editAndAddAgain,
    cancelJob,
    cancelAll,
    retryJob,
    retryWithDependents,
    retryAllDead,
    rerunJob,
    bumpJob,
    pauseLane,
    resumeLane,
    configureLane,
    setSlots,
    findJob,
    pruneJobs,
    removeQueues,
    showStatus,
    showProgress,
    startServer,
    restartServer,
    showServerLog,
    showExtensionLog,
    openTerminal,
    installCli,
    copyCommand,
    copyId,
    openCwd,
    ...viewCommands(controls),
    ...outputCommands,
    ...timelineCommands,
  ];
}
