/**
 * A verb of `lane`: everything about it in one object in one file, `verbs/<name>.ts`.
 * Parsing, help and completion all read the same declarations.
 */
import type { Connection } from '../../shared/connection.ts';
import type { Env } from '../../shared/paths.ts';
import type { RequestType } from '../../shared/protocol.ts';
import type { ServerModule } from '../../shared/serverModule.ts';
import { text, toggle, type Flags, type Parsed } from './args.ts';

export interface Example {
  readonly line: string;
  /** What it does, in one short sentence without a full stop. */
  readonly says: string;
}

export interface Verb<F extends Flags = Flags> {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** One line for the overview, without a full stop. */
  readonly summary: string;
  /** Synopses, one a line, each beginning with `lane`. */
  readonly usage: readonly string[];
  /** The second words it takes (`start` of `server start`), for completion and did-you-mean. */
  readonly subwords?: readonly string[];
  /** Paragraphs of help below the summary. */
  readonly details?: readonly string[];
  /** Its flags, without the global ones. */
  readonly flags: F;
  readonly examples: readonly Example[];
  /** The exit status for every error of Laneway's own, where the verb passes a job's status on. */
  readonly ownFailure?: number;
  /**
   * Does the verb's work and returns the exit status. Everything printed goes through the
   * context. @throws LanewayError for the edge to print and turn into an exit status.
   */
  run(context: Context, args: Parsed<F>): Promise<number>;
}

/** Declares a verb; only there so that `run` knows its own flags' types. */
export function verb<F extends Flags>(declared: Verb<F>): Verb {
  return declared as Verb;
}

/** Flags every verb takes. */
export const GLOBAL_FLAGS = {
  workspace: text('DIR', 'The workspace whose queue is meant (default: found from the current directory)'),
  json: toggle('Print one JSON document to stdout, errors as JSON to stderr'),
  direct: toggle('Work on the database in this process, starting no server'),
  help: toggle('Show help', { short: 'h' }),
  version: toggle('Show the version'),
} satisfies Flags;

/** What a verb may touch. Made by the bootstrap. */
export interface Context {
  readonly env: Env;
  readonly cwd: string;
  readonly version: string;
  /** File mode mask of whoever called, before this process set its own. */
  readonly umask: number;
  /** `--json` was given. */
  readonly json: boolean;
  /** `--direct` was given. */
  readonly direct: boolean;
  /** The real path of the workspace, found at first use. @throws LanewayError */
  readonly workspace: string;
  /** Text or bytes to stdout as they are; returns when the system took them. @throws OutputClosed */
  out(text: string | Uint8Array): void;
  /** The same to stderr: for a job's own bytes. */
  err(text: string | Uint8Array): void;
  /** A line for the person to stderr; left out with `--json`. */
  note(line: string): void;
  /** One JSON document (or one line of a stream) to stdout. */
  print(value: unknown): void;
  /** What the streams are; asked lazily, since it costs start time. */
  terminal(): Terminal;
  /** The queue, over the socket (starting the server if need be) or in this process; opened again when it was lost. */
  open(options?: OpenOptions): Promise<Connection>;
  /** `open` and one request, both in one write. */
  request<P, R>(type: RequestType<P, R>, params: P, options?: OpenOptions): Promise<R>;
  /** The server's code, for what runs in this process. */
  server(): ServerModule;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Takes SIGINT (and SIGTERM, SIGHUP when `term`) instead of the default, which is to end. Returns the removal. */
  onInterrupt(listener: (signal: NodeJS.Signals) => void, options?: { term?: boolean }): () => void;
}

export interface OpenOptions {
  /** With `--direct`: also run jobs in this process while the connection is open. */
  execute?: boolean;
  /** False: throw ENVIRONMENT instead of starting a server. */
  start?: boolean;
}

export interface Terminal {
  /** stdout is a terminal. */
  readonly isTty: boolean;
  /** stderr is a terminal: live progress may be drawn there. */
  readonly progress: boolean;
  /** stdin is a terminal: a question may be asked. */
  readonly interactive: boolean;
  /** Colour on stdout: a terminal, NO_COLOR and FORCE_COLOR considered. */
  readonly colour: boolean;
  /** Width of the terminal; Infinity elsewhere, since nothing is cut for a program. */
  readonly columns: number;
}

/** Whoever read our output is gone: nothing is left to say, and the process ends quietly. */
export class OutputClosed extends Error {}
