/** What verbs are given: the workspace, the queue behind it, and the ways to print. Effects live here, not in verbs. */
import type { Connection } from '../../shared/connection.ts';
import { findWorkspace } from '../../shared/paths.ts';
import type { ServerModule } from '../../shared/serverModule.ts';
import { readTerminal, writeAll } from './output.ts';
import type { Context, OpenOptions, Terminal } from './verb.ts';
import { VERSION } from './version.ts';

/** What the bootstrap hands over. */
export interface Io {
  env: Record<string, string | undefined>;
  cwd: string;
  umask: number;
  /** Path of `server.js`. */
  serverBundle: string;
  /** Loads the server's code into this process. */
  loadServer(): ServerModule;
}

export interface OwnedContext extends Context {
  /**
   * Closes the queue if it was opened in this process. A socket is left to the end of the process, which closes it
   * sooner: destroying one makes Node load what it needs for stderr.
   */
  close(): Promise<void>;
}

export function makeContext(
  io: Io,
  global: { json: boolean; direct: boolean; workspace: string | null },
): OwnedContext {
  let workspace: string | null = null;
  let terminal: Terminal | null = null;
  let connection: Promise<Connection> | null = null;

  const found = (): string => (workspace ??= findWorkspace({ cwd: io.cwd, env: io.env, explicit: global.workspace }));
  const note = (line: string): void => {
    if (global.json) return;
    try {
      writeAll(2, `${line}\n`);
    } catch {
      // Advice that nobody reads: what it is about goes on.
    }
  };
  const keep = (opening: Promise<Connection>): Promise<Connection> => {
    connection = opening;
    const forget = (): void => {
      if (connection === opening) connection = null;
    };
    opening.then((open) => void open.closed.then(forget), forget);
    return opening;
  };
  const socketOptions = (options: OpenOptions) => ({
    workspace: found(),
    env: io.env,
    client: 'cli' as const,
    version: VERSION,
    start: options.start === false ? ('never' as const) : ('always' as const),
    serverBundle: io.serverBundle,
    onWaiting: note,
  });
  const open = (options: OpenOptions = {}): Promise<Connection> => {
    if (connection !== null) return connection;
    if (global.direct) {
      return keep(io.loadServer().openDirect({ workspace: found(), execute: options.execute ?? false }));
    }
    return keep(import('../../shared/connect.ts').then(({ connect }) => connect(socketOptions(options))));
  };

  return {
    env: io.env,
    cwd: io.cwd,
    version: VERSION,
    umask: io.umask,
    json: global.json,
    direct: global.direct,
    get workspace() {
      return found();
    },
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    note,
    print: (value) => writeAll(1, `${JSON.stringify(value)}\n`),
    terminal: () => (terminal ??= readTerminal(io.env)),
    open,
    async request(type, params, options = {}) {
      if (connection !== null || global.direct) return (await open(options)).request(type, params);
      const { connectAndAsk } = await import('../../shared/connect.ts');
      const asked = connectAndAsk(socketOptions(options), type, params);
      const opening = asked.then((answer) => answer.connection);
      opening.catch(() => undefined);
      void keep(opening);
      return (await asked).result;
    },
    server: () => io.loadServer(),
    now: () => Date.now(),
    onInterrupt(listener, { term = false } = {}) {
      const names: NodeJS.Signals[] = term ? ['SIGINT', 'SIGTERM', 'SIGHUP'] : ['SIGINT'];
      // The bootstrap's own listener ends the process; it stands back while somebody else listens.
      for (const name of names) process.on(name, listener);
      return () => {
        for (const name of names) process.off(name, listener);
      };
    },
    async close() {
      if (!global.direct) return;
      const opened = await connection?.catch(() => null);
      await opened?.close();
    },
  };
}
