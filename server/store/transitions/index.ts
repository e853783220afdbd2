export { add } from './add.ts';
export { claim } from './claim.ts';
export { settle } from './dependents.ts';
export { closeReaped, finish } from './finish.ts';
export { prune, prunedFiles, pruneLedger } from './prune.ts';
export { heartbeat, registerWorker, removeWorker, started, takeOver } from './workers.ts';
