/** `lane server`: the background server of the workspace. */
import fs from 'node:fs';
import type { Connection } from '../../../shared/connection.ts';
import { LanewayError } from '../../../shared/errors.ts';
import { sayCount, sayDuration } from '../../../shared/format.ts';
import type { Server } from '../../../shared/job.ts';
import { statePaths } from '../../../shared/paths.ts';
import { ServerStatus, ServerStop } from '../../../shared/protocol.ts';
import { ConnectionLost } from '../../../shared/rpc.ts';
import { escapeControls } from '../../../shared/text.ts';
import { didYouMean, invalid, toggle } from '../args.ts';
import { verb, type Context } from '../verb.ts';

const WORDS = ['start', 'stop', 'restart', 'status', 'logs'];
/** Bytes of the server's log that are shown. */
const LOG_TAIL = 65_536;

export default verb({
  name: 'server',
  summary: 'Start, stop or look at the background server',
  usage: [
    'lane server start',
    'lane server stop [--force]',
    'lane server restart',
    'lane server status',
    'lane server logs',
  ],
  subwords: WORDS,
  details: [
    'Other verbs start the server when they need it, and it ends by itself when idle.',
    'Stopping takes no more jobs and waits for the running ones; --force stops them, and they wait to run again. It also ends a server that does not answer any more.',
  ],
  flags: { force: toggle('Stop running jobs too; they are queued again') },
  examples: [
    { line: 'lane server status', says: 'Whether it runs, since when, for whom' },
    { line: 'lane server stop', says: 'Let running jobs finish, then end' },
  ],
  async run(context, { flags, words, rest }) {
    const [word, ...more] = [...words, ...(rest ?? [])];
    if (word === undefined || !WORDS.includes(word)) {
      const hint = (word === undefined ? null : didYouMean(word, WORDS)) ?? `Use one of ${WORDS.join(', ')}.`;
      throw invalid(
        word === undefined ? 'What shall the server do?' : `"${escapeControls(word)}" is nothing a server does`,
        hint,
      );
    }
    if (more.length > 0) throw invalid(`lane server ${word} takes no further words`);
    if (context.direct) throw invalid('--direct works without a server', 'Leave it out.');
    if (flags.force && word !== 'stop' && word !== 'restart') throw invalid('--force belongs to "lane server stop"');
    if (word === 'logs') return logs(context);
    const stopped = word === 'stop' || word === 'restart' ? await stop(context, flags.force) : null;
    const server = word === 'start' || word === 'restart' ? await ask(await context.open()) : await look(context);
    if (context.json) context.print(server);
    else if (stopped !== null && !server.running)
      context.out(`Stopped the server for ${escapeControls(server.workspace)} (pid ${stopped.pid})\n`);
    else context.out(`${described(server)}\n`);
    return 0;
  },
});

const ask = (connection: Connection): Promise<Server> => connection.request(ServerStatus, null);

/** The running server's connection; null when none runs. */
async function reach(context: Context): Promise<Connection | null> {
  try {
    return await context.open({ start: false });
  } catch (error) {
    if (error instanceof LanewayError && error.code === 'ENVIRONMENT' && error.message.startsWith('No server'))
      return null;
    throw error;
  }
}

async function look(context: Context): Promise<Server> {
  const connection = await reach(context);
  return connection === null ? absent(context) : ask(connection);
}

function absent(context: Context): Server {
  const { database, logs } = statePaths(context.workspace, context.env);
  return {
    running: false,
    pid: null,
    version: null,
    protocol: null,
    workspace: context.workspace,
    socket: null,
    database,
    logs,
    uptimeMs: null,
    clients: null,
  };
}

/** Returns once the server's process is gone, with its pid; null when none ran. */
async function stop(context: Context, force: boolean): Promise<{ pid: number | null } | null> {
  const connection = await patiently(force, reach(context));
  if (connection === SILENT) return kill(context);
  if (connection === null) return null;
  const { pid } = connection.welcome.server;
  try {
    const answer = await patiently(force, connection.request(ServerStop, { force }));
    if (answer === SILENT) return kill(context);
    const { running } = answer;
    if (running > 0) {
      context.note(
        force
          ? `Stopping ${sayCount(running, 'running job')}`
          : `Waiting for ${sayCount(running, 'running job')} to finish ("lane server stop --force" stops them)`,
      );
    }
  } catch (error) {
    // It was quicker than its answer.
    if (!(error instanceof ConnectionLost)) throw error;
  }
  // A job's grace may be long: while the server answers, it is at work.
  while ((await patiently(force, connection.closed)) === SILENT) {
    const asked = ask(connection).catch(() => null);
    if ((await patiently(force, asked)) === SILENT) return kill(context);
  }
  for (;;) {
    if (pid === null || !exists(pid)) return { pid };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Milliseconds without an answer after which `--force` takes a server for lost. */
const SILENT_MS = 5000;
const SILENT = Symbol('no answer');

/** The answer, or with `force` the word that there was none in time. */
async function patiently<T>(force: boolean, answer: Promise<T>): Promise<T | typeof SILENT> {
  if (!force) return answer;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<typeof SILENT>((resolve) => {
    timer = setTimeout(() => resolve(SILENT), SILENT_MS);
  });
  answer.catch(() => undefined);
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}

async function kill(context: Context): Promise<{ pid: number | null } | null> {
  context.note(
    'The server does not answer: ending its process. What it ran is stopped and queued again when a server starts.',
  );
  return context.server().killServer({ workspace: context.workspace });
}

/** A zombie is gone: whoever is process 1 here may never collect it. */
function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')')).charAt(2) !== 'Z';
  } catch {
    return false;
  }
}

async function logs(context: Context): Promise<number> {
  if (context.json) {
    context.print(await look(context));
    return 0;
  }
  const { serverLog } = statePaths(context.workspace, context.env);
  let file: number;
  try {
    file = fs.openSync(serverLog, 'r');
  } catch {
    throw new LanewayError(
      'NOT_FOUND',
      `There is no server log at ${serverLog}`,
      'No server ran for this workspace yet.',
    );
  }
  try {
    const { size } = fs.fstatSync(file);
    const tail = Buffer.alloc(Math.min(size, LOG_TAIL));
    const bytes = fs.readSync(file, tail, 0, tail.length, size - tail.length);
    const text = tail.subarray(0, bytes);
    // A cut first line would only confuse.
    context.out(size > LOG_TAIL ? text.subarray(text.indexOf('\n') + 1) : text);
  } finally {
    fs.closeSync(file);
  }
  return 0;
}

function described(server: Server): string {
  if (!server.running) return `No server runs for ${escapeControls(server.workspace)}`;
  const { pid, version, uptimeMs, clients, workspace, database } = server;
  return escapeControls(
    `Server ${version} runs for ${workspace} (pid ${pid}, up ${sayDuration(uptimeMs ?? 0)}, ${sayCount(clients ?? 0, 'client')}, database ${database})`,
  );
}
