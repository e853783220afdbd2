/** Every verb by name, each loaded only when it is asked for: start time is part of the interface. */
import type { Verb } from '../verb.ts';

interface Entry {
  readonly aliases?: readonly string[];
  /** For programs only: neither in help nor completed. */
  readonly hidden?: true;
  readonly load: () => Promise<{ default: Verb }>;
}

/** In the order in which help lists them. */
export const VERBS: Readonly<Record<string, Entry>> = {
  add: { load: () => import('./add.ts') },
  run: { load: () => import('./run.ts') },
  list: { aliases: ['ls'], load: () => import('./list.ts') },
  show: { load: () => import('./show.ts') },
  status: { load: () => import('./status.ts') },
  output: { aliases: ['logs'], load: () => import('./output.ts') },
  cancel: { load: () => import('./cancel.ts') },
  retry: { load: () => import('./retry.ts') },
  rerun: { load: () => import('./rerun.ts') },
  bump: { load: () => import('./bump.ts') },
  wait: { load: () => import('./wait.ts') },
  events: { load: () => import('./events.ts') },
  timeline: { load: () => import('./timeline.ts') },
  lanes: { load: () => import('./lanes.ts') },
  pause: { load: () => import('./pause.ts') },
  resume: { load: () => import('./resume.ts') },
  prune: { load: () => import('./prune.ts') },
  work: { load: () => import('./work.ts') },
  server: { load: () => import('./server.ts') },
  workspaces: { load: () => import('./workspaces.ts') },
  checkpoint: { load: () => import('./checkpoint.ts') },
  sleep: { load: () => import('./sleep.ts') },
  doctor: { load: () => import('./doctor.ts') },
  completion: { load: () => import('./completion.ts') },
  __complete: { hidden: true, load: () => import('./complete.ts') },
};

/** The name a word stands for, aliases included; null when it is no verb. */
export function verbName(word: string): string | null {
  if (Object.hasOwn(VERBS, word)) return word;
  return Object.keys(VERBS).find((name) => VERBS[name]!.aliases?.includes(word)) ?? null;
}

/** Loads a verb by its name. */
export async function loadVerb(name: string): Promise<Verb> {
  return (await VERBS[name]!.load()).default;
}
