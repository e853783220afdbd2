/**
 * The deep checks in a process of their own: on a large queue they read for minutes, and a server
 * that did this itself would neither claim nor answer, and be taken for hung by its peers.
 */
import path from 'node:path';
import type { Check } from '../../shared/job.ts';
import { isErrorData, LanewayError, toErrorData } from '../../shared/errors.ts';
import { type Env, statePaths } from '../../shared/paths.ts';
import { storeChecks } from './doctor.ts';
import { loadExeca } from '../run/tool.ts';
import type { Clock } from '../store/api.ts';
import { openStore } from '../store/open.ts';

/** Says to the server's bundle, as its first argument, that it is to check. */
export const CHECK_ARGUMENT = '--check';

/** All of the server is one file once it is built. */
const PROGRAM = import.meta.filename.endsWith('.ts')
  ? path.join(import.meta.dirname, '../main.ts')
  : import.meta.filename;

export interface ApartOptions {
  workspace: string;
  env: Env;
  /** Ends the checking process. */
  signal: AbortSignal;
}

/** One process at a time: who asks while it checks gets the same answer. */
export function createCheckApart(options: ApartOptions): () => Promise<Check[]> {
  let running: Promise<Check[]> | null = null;
  return () => (running ??= checkApart(options).finally(() => (running = null)));
}

async function checkApart({ workspace, env, signal }: ApartOptions): Promise<Check[]> {
  const execa = await loadExeca();
  const { stdout, failed } = await execa(process.execPath, [PROGRAM, CHECK_ARGUMENT, workspace], {
    stdin: 'ignore',
    stderr: 'ignore',
    reject: false,
    extendEnv: false,
    env: { ...env },
    cancelSignal: signal,
  });
  const answer = parse(stdout);
  if (Array.isArray(answer)) return answer as Check[];
  if (isErrorData(answer)) throw new LanewayError(answer.code, answer.message, answer.hint);
  throw new LanewayError(
    'ENVIRONMENT',
    failed ? 'the process that checks the queue ended early' : 'the process that checks the queue gave no answer',
    'Stop the server and try again: lane server stop, then lane doctor --deep',
  );
}

function parse(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

/** What that process does: prints the checks, or the error that kept it from them, as one JSON document. */
export async function printChecks(workspace: string, { env, clock }: { env: Env; clock: Clock }): Promise<void> {
  let answer: unknown;
  try {
    const paths = statePaths(workspace, env);
    const store = await openStore({ folder: paths.folder, clock, mustExist: true });
    try {
      answer = storeChecks(store, paths, true);
    } finally {
      await store.close();
    }
  } catch (error) {
    answer = toErrorData(error);
  }
  await new Promise((resolve) => process.stdout.write(JSON.stringify(answer), resolve));
}
