/** A question to the person at the terminal. */
import readline from 'node:readline';
import type { Context } from './verb.ts';

/**
 * True when the person said yes; false without a terminal to ask at, or when the input ended.
 * Asked on stderr, so that stdout stays clean. Ctrl-C ends the process as it does everywhere else.
 */
export async function confirm(context: Context, question: string): Promise<boolean> {
  if (!context.terminal().interactive) return false;
  const lines = readline.createInterface({ input: process.stdin, output: process.stderr });
  const answer = await new Promise<string>((resolve) => {
    lines.once('close', () => resolve(''));
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.question(`${question} [y/N] `, resolve);
  });
  lines.close();
  return /^y(?:es)?$/i.test(answer.trim());
}
