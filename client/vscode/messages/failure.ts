/** What a failure says and which next steps it offers. Pure; `tell.ts` shows it. */
import { type ErrorCode, type ErrorData, LanewayError } from '../../../shared/errors.ts';

/** A button under a message, and the command that it runs. */
export interface NextStep {
  title: string;
  command: string;
  arguments?: unknown[];
}

const SHOW_LOG: NextStep = { title: 'Show Log', command: 'laneway.showExtensionLog' };
const SERVER_LOG: NextStep = { title: 'Show Server Log', command: 'laneway.showServerLog' };
const RESTART: NextStep = { title: 'Restart Server', command: 'laneway.restartServer' };
const FIND: NextStep = { title: 'Find Job', command: 'laneway.findJob' };
const UPDATE: NextStep = { title: 'Check for Updates', command: 'workbench.extensions.action.checkForUpdates' };
/** What talks may be the old version of an extension that has been updated meanwhile. */
const RELOAD: NextStep = { title: 'Reload Window', command: 'workbench.action.reloadWindow' };
const TERMINAL: NextStep = { title: 'Open Terminal', command: 'laneway.openTerminal' };
const AIMED: ReadonlySet<string> = new Set([SERVER_LOG, RESTART, TERMINAL].map(({ command }) => command));

/** A failure that knows a better next step than its code does. */
export class Guided extends LanewayError {
  readonly steps: readonly NextStep[];

  constructor(code: ErrorCode, message: string, hint: string | null, steps: readonly NextStep[]) {
    super(code, message, hint);
    this.steps = steps;
  }
}

/** Steps that are about one folder's queue ask for no folder again. `target` holds the queue. */
export function aimed(steps: readonly NextStep[], target: unknown): NextStep[] {
  return steps.map((step) =>
    target !== undefined && AIMED.has(step.command) && !step.arguments ? { ...step, arguments: [target] } : step,
  );
}

/** Next steps that fit an error, the most helpful first. Never empty. */
export function nextSteps(code: ErrorCode): NextStep[] {
  switch (code) {
    case 'NOT_FOUND':
    case 'CONFLICT':
    case 'KEY_CONFLICT':
      return [FIND];
    case 'ENVIRONMENT':
    case 'TIMEOUT':
      return [RESTART, SERVER_LOG];
    case 'REFUSED':
      // The hint names what only `lane` does; another start would be refused as well.
      return [TERMINAL, SERVER_LOG];
    case 'SCHEMA_NEWER':
    case 'VERSION_MISMATCH':
      return [UPDATE, RELOAD, SERVER_LOG];
    case 'CORRUPT':
      return [TERMINAL, SERVER_LOG];
    case 'INVALID_INPUT':
    case 'INTERNAL':
      return [SHOW_LOG];
  }
}

/** One sentence of what failed and why, and the hint. `doing` completes "Laneway could not …". */
export function failureText(doing: string, { message, hint }: ErrorData): string {
  const advice = hint === null ? '' : forEditor(hint);
  return `Laneway could not ${doing}: ${sentence(message)}${advice ? ` ${sentence(upper(advice))}` : ''}`;
}

/** Hints are written for both clients: what only a command line can do is left out. */
function forEditor(hint: string): string {
  return hint
    .split(/(?<=[.!?])\s+/)
    .filter((part) => !/--direct\b/.test(part))
    .join(' ');
}

function sentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
