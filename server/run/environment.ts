/**
 * The environment of a job: what was captured at `add`, minus the editor's internals, plus what
 * the in-job verbs and the job's own idempotency need. Pure.
 */
import type { Claimed } from '../store/api.ts';
import type { WorkerPaths } from './contract.ts';

/** Set for every job; values of an outer job, or of the caller, never shine through. */
function jobMarks(claimed: Claimed): Record<string, string> {
  return {
    LANEWAY_JOB_ID: String(claimed.jobId),
    LANEWAY_ATTEMPT: String(claimed.attempt),
    LANEWAY_FENCE: String(claimed.fence),
    LANEWAY_WORKER: claimed.workerId,
  };
}

export function jobEnvironment(
  claimed: Claimed,
  paths: WorkerPaths,
  platform: NodeJS.Platform,
): Record<string, string> {
  const env = withoutEditor(claimed.env);
  Object.assign(env, jobMarks(claimed), {
    LANEWAY_LANE: claimed.lane,
    LANEWAY_IDEMPOTENCY_KEY: claimed.idempotencyKey,
    LANEWAY_WORKSPACE: paths.workspace,
    LANEWAY_HOME: paths.home,
  });
  if (paths.laneFolder !== null) putFirstOnPath(env, paths.laneFolder, platform);
  return env;
}

/** Names that only an editor's own processes should see. */
const EDITOR_NAME = /^(?:ELECTRON_|VSCODE_)/i;
/** The scripts by which an editor answers Git for its own terminals; they need the editor's socket. */
const EDITOR_SCRIPT = /[\\/]extensions[\\/]git[\\/](?:.*[\\/])?(?:ssh-)?(?:askpass|git-editor)[^\\/]*$/i;
const HELPER_NAMES = new Set(['GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_EDITOR']);

function withoutEditor(env: Record<string, string>): Record<string, string> {
  // A list first: a variable may be called `__proto__`.
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(env)) {
    if (EDITOR_NAME.test(name)) continue;
    if (HELPER_NAMES.has(name) && EDITOR_SCRIPT.test(value.replaceAll('"', ''))) continue;
    if (name === 'NODE_OPTIONS') {
      const options = withoutEditorRequire(value);
      if (options !== '') kept.push([name, options]);
      continue;
    }
    kept.push([name, value]);
  }
  return Object.fromEntries(kept);
}

/** The debugger that an editor loads into every Node process of its terminals. */
const EDITOR_MODULE = /ms-vscode\.js-debug|[\\/]js-debug[\\/]|[\\/]\.vscode(?:-[\w-]+)?[\\/]|vscode-js-debug/i;

/** NODE_OPTIONS without `--require` (or `-r`, `--import`) of an editor's module; the rest verbatim. */
export function withoutEditorRequire(options: string): string {
  // Words may be quoted, with backslash escapes inside the quotes, as Node itself reads them.
  const words = options.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) ?? [];
  const kept: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    const joined = /^(?:--require|--import|-r)=(.*)$/.exec(word);
    if (joined !== null && EDITOR_MODULE.test(joined[1] ?? '')) continue;
    const next = words[index + 1];
    if (/^(?:--require|--import|-r)$/.test(word) && next !== undefined && EDITOR_MODULE.test(next)) {
      index += 1;
      continue;
    }
    kept.push(word);
  }
  return kept.length === words.length ? options : kept.join(' ');
}

/** Where programs are looked for when a job's environment names no PATH. */
const FALLBACK_PATH = '/usr/local/bin:/usr/bin:/bin';

function putFirstOnPath(env: Record<string, string>, folder: string, platform: NodeJS.Platform): void {
  const windows = platform === 'win32';
  const separator = windows ? ';' : ':';
  // Windows spells it `Path` and does not care.
  const name = windows ? (Object.keys(env).find((key) => key.toUpperCase() === 'PATH') ?? 'Path') : 'PATH';
  const path = env[name] ?? (windows ? '' : FALLBACK_PATH);
  if (path === folder || path.startsWith(folder + separator)) return;
  env[name] = path === '' ? folder : folder + separator + path;
}
