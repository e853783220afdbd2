/**
 * `lane checkpoint`: a stage of a job that is not done twice. Its output passes through as it
 * comes and is stored only once the command has ended well, so that a kill at any moment leaves
 * either a finished stage or none.
 */
import childProcess from 'node:child_process';
import os from 'node:os';
import { LanewayError } from '../../../shared/errors.ts';
import { MAX_CHECKPOINT } from '../../../shared/limits.ts';
import { quoteValue } from '../../../shared/text.ts';
import { validateStageName } from '../../../shared/validateQuery.ts';
import { invalid } from '../args.ts';
import { inJob, stageName } from '../inJob.ts';
import { verb, type Context } from '../verb.ts';

const USAGE = 'For example: lane checkpoint fetch -- curl -s https://example.org';

export default verb({
  name: 'checkpoint',
  summary: 'Inside a job: run a stage once, however often the job runs',
  usage: ['lane checkpoint NAME -- COMMAND [ARG…]'],
  details: [
    'When the command exits 0, its stdout (at most 1 MiB) is stored. Whenever the job runs again, by a retry too, the command is not run: its stored stdout is printed.',
    'Otherwise nothing is stored and its status is passed on. Larger output is printed, not stored, and the exit status is 1.',
  ],
  flags: {},
  examples: [{ line: 'lane checkpoint fetch -- ./fetch.sh > data.json', says: "In a job's script" }],
  async run(context, { words, rest }) {
    const name = validateStageName(stageName(words, USAGE));
    if (rest === null || rest.length === 0) throw invalid('There is no command to run', USAGE);
    const job = inJob(context, 'checkpoint');
    const server = context.server();
    const stored = await server.readCheckpoint(job, name);
    if (stored !== null) {
      context.out(stored);
      return 0;
    }
    const stage = await runStage(context, rest);
    if (stage.status !== 0) return stage.status;
    if (stage.stdout === null) {
      context.err(
        `lane: the output of stage ${quoteValue(name)} is larger than ${MAX_CHECKPOINT} bytes and was not stored\n`,
      );
      return 1;
    }
    await server.writeCheckpoint(job, name, stage.stdout);
    return 0;
  },
});

/** Runs the command with its stdout passed through. `stdout` is null when there was too much to store. */
function runStage(context: Context, argv: string[]): Promise<{ status: number; stdout: Buffer | null }> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = childProcess.spawn(program, args, { stdio: ['inherit', 'pipe', 'inherit'] });
    let chunks: Buffer[] | null = [];
    let held = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      held += chunk.length;
      if (held > MAX_CHECKPOINT) chunks = null;
      chunks?.push(chunk);
      try {
        context.out(chunk);
      } catch (error) {
        // Nobody reads us; the command learns it as it would have without us.
        child.stdout.destroy();
        reject(error as Error);
      }
    });
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new LanewayError(
          'ENVIRONMENT',
          `${quoteValue(program)} cannot be started (${error.code})`,
          'Check the name and the PATH.',
        ),
      );
    });
    child.once('close', (code, signal) => {
      const status = signal === null ? (code ?? 1) : 128 + (os.constants.signals[signal] ?? 0);
      resolve({ status, stdout: chunks === null ? null : Buffer.concat(chunks, held) });
    });
  });
}
