/** Commands that show logs: in a channel, as a document, in a terminal. */
import * as vscode from 'vscode';
import type { Command, Laneway } from '../context.ts';
import { resolveAttempt } from './attempt.ts';
import { LogChannels, type ShowOptions } from './channels.ts';
import { LogDocuments } from './documents.ts';
import { openLogTerminal } from './terminal.ts';

/** What the log commands return: which log it was, and where it is shown. */
export interface ShownLog {
  jobId: number;
  attempt: number;
  /** The channel's or terminal's name, or the document's URI. */
  shown: string;
}

const DEFAULT_TAIL_KIB = 256;
/** A channel of more than this is slow to show. */
const MOST_TAIL_KIB = 16_384;

interface Outputs {
  channels: LogChannels;
  documents: LogDocuments;
}
const outputsOf = new WeakMap<Laneway, Outputs>();

/** Makes what outlives a command: the channels and the documents' provider. */
export function activateOutput(laneway: Laneway): void {
  const channels = new LogChannels(laneway, () => tailBytes());
  const documents = new LogDocuments(laneway);
  outputsOf.set(laneway, { channels, documents });
  laneway.subscriptions.push(channels, documents);
}

export const outputCommands: Command[] = [
  {
    id: 'laneway.showLog',
    doing: 'show the log',
    run: async (laneway, argument, options): Promise<ShownLog | undefined> => {
      const target = await resolveAttempt(laneway, argument);
      if (target === undefined) return undefined;
      const shown = outputs(laneway).channels.show(target, showOptions(options));
      return { jobId: target.job.id, attempt: target.attempt.number, shown };
    },
  },
  {
    id: 'laneway.openLog',
    doing: 'open the log',
    run: async (laneway, argument): Promise<ShownLog | undefined> => {
      const target = await resolveAttempt(laneway, argument);
      if (target === undefined) return undefined;
      const uri: vscode.Uri = await outputs(laneway).documents.show(target);
      return { jobId: target.job.id, attempt: target.attempt.number, shown: uri.toString() };
    },
  },
  {
    id: 'laneway.openLogInTerminal',
    doing: 'open the log in a terminal',
    run: async (laneway, argument): Promise<ShownLog | undefined> => {
      const target = await resolveAttempt(laneway, argument);
      if (target === undefined) return undefined;
      const terminal = openLogTerminal(target, tailBytes());
      return { jobId: target.job.id, attempt: target.attempt.number, shown: terminal.name };
    },
  },
];

/** Bytes of history a channel or terminal begins with: the setting, read anew each time. */
function tailBytes(): number {
  const kib = vscode.workspace.getConfiguration('laneway').get<unknown>('logTailKiB');
  return Math.round((typeof kib === 'number' && kib > 0 ? Math.min(kib, MOST_TAIL_KIB) : DEFAULT_TAIL_KIB) * 1024);
}

function outputs(laneway: Laneway): Outputs {
  const found = outputsOf.get(laneway);
  if (found === undefined) throw new Error('the log views are not active');
  return found;
}

/** Programs may pass `{reuse: true}`; VS Code itself passes the selection of a tree there. */
function showOptions(value: unknown): ShowOptions {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return { reuse: 'reuse' in value && value.reuse === true };
}
