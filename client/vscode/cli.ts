/**
 * Asking Laneway's own command line, for what needs a database that this window has no server
 * for: SQLite is never loaded into the extension host.
 */
import { execFile } from 'node:child_process';
import { type ErrorData, fromErrorData, LanewayError } from '../../shared/errors.ts';
import { bundles, type Runtime, runtimeEnv } from './runtime.ts';

export interface Cli {
  extensionPath: string;
  runtime: Runtime;
  env: NodeJS.ProcessEnv;
}

/** Long enough for a machine that is busy. */
const ASK_MS = 20_000;
const MAX_ANSWER = 64 * 1024 * 1024;

/**
 * What `lane --json …` prints.
 * @throws what the command line says went wrong; ENVIRONMENT when it says nothing
 */
export async function askCli({ extensionPath, runtime, env }: Cli, words: readonly string[]): Promise<unknown> {
  const args = [bundles(extensionPath).cli, '--json', ...words];
  const options = { env: runtimeEnv(runtime, env), timeout: ASK_MS, windowsHide: true, maxBuffer: MAX_ANSWER };
  return await new Promise((resolve, reject) => {
    execFile(runtime.execPath, args, options, (failure, stdout, stderr) => {
      try {
        if (failure) throw errorOf(stderr, failure);
        resolve(JSON.parse(stdout));
      } catch (error) {
        reject(error instanceof LanewayError ? error : silent(error));
      }
    });
  });
}

function errorOf(stderr: string, failure: Error): Error {
  const line = stderr.split('\n').find((each) => each.startsWith('{"error":'));
  if (line === undefined) return failure;
  return fromErrorData((JSON.parse(line) as { error: ErrorData }).error);
}

function silent(cause: unknown): LanewayError {
  return new LanewayError('ENVIRONMENT', 'the command line did not answer', null, { cause });
}
