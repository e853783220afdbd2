/**
 * The server's bundle: the background server when run, and what clients load to work without one
 * ({@link ServerModule}). Everything behind it is loaded late, because the database's driver ends the
 * whole process under a Node.js that is too old for it, where a sentence is wanted.
 */
import fs from 'node:fs';
import type { ServerModule } from '../shared/serverModule.ts';
import { LanewayError, toErrorData } from '../shared/errors.ts';
import { OLDEST_NODE } from '../shared/limits.ts';
import { systemClock as clock } from './clock.ts';

/** @throws ENVIRONMENT under a Node.js that cannot run the queue. */
function requireNode(): void {
  const version = process.versions.node;
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return;
  throw new LanewayError(
    'ENVIRONMENT',
    `Laneway's queue needs Node.js ${OLDEST_NODE} or newer; this is ${version} (${process.execPath})`,
    `put Node.js ${OLDEST_NODE} or newer first on the PATH; the server started by VS Code brings its own`,
  );
}

const env = (): NodeJS.ProcessEnv => process.env;
const warn = (message: string): void => {
  process.stderr.write(`${message}\n`);
};

export const openDirect: ServerModule['openDirect'] = async (options) => {
  requireNode();
  return (await import('./direct.ts')).openDirect({ ...options, env: env(), clock, warn });
};

export const work: ServerModule['work'] = async (options) => {
  requireNode();
  return (await import('./work.ts')).work(options, { env: env(), clock, warn });
};

export const doctor: ServerModule['doctor'] = async (options) =>
  (await import('./doctor/doctor.ts')).doctor({ ...options, env: env(), clock });

export const readCheckpoint: ServerModule['readCheckpoint'] = async (job, name) => {
  requireNode();
  return (await import('./inJob.ts')).readCheckpoint(job, name, { env: env(), clock });
};

export const writeCheckpoint: ServerModule['writeCheckpoint'] = async (job, name, stdout) => {
  requireNode();
  return (await import('./inJob.ts')).writeCheckpoint(job, name, stdout, { env: env(), clock });
};

export const recordSleep: ServerModule['recordSleep'] = async (job, name, durationMs) => {
  requireNode();
  return (await import('./inJob.ts')).recordSleep(job, name, durationMs, { env: env(), clock });
};

export const killServer: ServerModule['killServer'] = async (options) => {
  requireNode();
  return (await import('./presence/kill.ts')).killServer({ ...options, env: env(), clock });
};

export const workspacesList: ServerModule['workspacesList'] = async (options) => {
  requireNode();
  return (await import('./workspaces/registry.ts')).listWorkspaces({ ...options, clock });
};

export const workspacesMove: ServerModule['workspacesMove'] = async (options) => {
  requireNode();
  return (await import('./workspaces/change.ts')).moveWorkspace({ ...options, clock });
};

export const workspacesRemove: ServerModule['workspacesRemove'] = async (options) => {
  requireNode();
  return (await import('./workspaces/change.ts')).removeWorkspace({ ...options, clock });
};

export const workspacesAdopt: ServerModule['workspacesAdopt'] = async (options) => {
  requireNode();
  return (await import('./workspaces/change.ts')).adoptWorkspace({ ...options, clock });
};

export const workspacesRelease: ServerModule['workspacesRelease'] = async (options) => {
  requireNode();
  return (await import('./workspaces/change.ts')).releaseWorkspace({ ...options, clock });
};

/** The daemon: `node server.js --workspace PATH`; or, for the daemon, the deep checks of its queue. */
async function main(args: string[]): Promise<void> {
  requireNode();
  const apart = await import('./doctor/apart.ts');
  if (args[0] === apart.CHECK_ARGUMENT) return apart.printChecks(args[1] ?? '', { env: env(), clock });
  // A closed terminal is no reason to end.
  process.on('SIGHUP', () => undefined);
  const at = args.indexOf('--workspace');
  const workspace = at === -1 ? undefined : args[at + 1];
  if (workspace === undefined) throw new LanewayError('INVALID_INPUT', 'usage: node server.js --workspace PATH');
  (await import('./memory.ts')).stayYoung();
  const { runDaemon } = await import('./daemon.ts');
  await runDaemon({
    workspace,
    env: env(),
    clock,
    onFault(listener) {
      process.on('unhandledRejection', listener);
      process.on('uncaughtException', (error) => {
        listener(error);
        process.exit(3);
      });
    },
    onEndSignal(listener) {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, listener);
    },
  });
}

if (isMain(process.argv[1])) {
  main(process.argv.slice(2)).then(
    () => process.exit(0),
    (error: unknown) => {
      const { message, hint } = toErrorData(error);
      process.stderr.write(`laneway server: ${message}${hint === null ? '' : `\n${hint}`}\n`);
      process.exit(3);
    },
  );
}

/** Run as a program rather than loaded by a client. */
function isMain(script: string | undefined): boolean {
  if (script === undefined) return false;
  try {
    return fs.realpathSync(script) === import.meta.filename;
  } catch {
    return false;
  }
}
