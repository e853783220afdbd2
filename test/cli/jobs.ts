/** Jobs of a test, by the command line alone. */
import type { Sandbox } from '../helpers/sandbox.ts';
import { waitFor } from '../helpers/waitFor.ts';

export interface Listed {
  jobs: { id: number; state: string }[];
  nextCursor: string | null;
}

/** The new job's id. */
export async function addJob(box: Sandbox, ...args: string[]): Promise<number> {
  return (await box.json<{ job: { id: number } }>(['add', ...args])).job.id;
}

export async function stateOf(box: Sandbox, id: number): Promise<string> {
  return (await box.json<{ job: { state: string } }>(['show', String(id)])).job.state;
}

export const reach = (box: Sandbox, id: number, state: string): Promise<boolean> =>
  waitFor(async () => (await stateOf(box, id)) === state, { what: `job ${id} to be ${state}` });
