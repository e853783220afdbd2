/**
 * One world of messages, over a socket or in-process: `--direct` must not differ from a server by
 * anything but the transport.
 */
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import type { AddRequest, Job } from '../../shared/job.ts';
import { Add, type RequestType } from '../../shared/protocol.ts';
import { openDirect } from '../../server/direct.ts';
import { systemClock } from '../../server/clock.ts';
import { client, type Client } from '../helpers/client.ts';
import { Sandbox } from '../helpers/sandbox.ts';

type Ask = <A, B>(type: RequestType<A, B>, params: A) => Promise<B>;

export interface World {
  box: Sandbox;
  ask: Ask;
  add: (...jobs: AddRequest[]) => Promise<Job[]>;
  one: (job: AddRequest) => Promise<Job>;
}

export type Case = [name: string, run: (world: World) => Promise<void>];

export const CARRIERS = ['socket', 'direct'] as const;

export const CALLER = { env: { PATH: process.env['PATH'] ?? '', FROM_CALLER: 'yes' }, umask: 0o027 };

async function overSocket(box: Sandbox): Promise<{ ask: Ask; close: () => Promise<void> }> {
  await box.startServer();
  const mine: Client = await client(box.paths().socket);
  return { ask: (type, params) => mine.request(type, params), close: () => mine.close() };
}

async function inProcess(box: Sandbox): Promise<{ ask: Ask; close: () => Promise<void> }> {
  const options = { workspace: box.workspace, env: box.env, clock: systemClock, warn: () => undefined };
  const connection = await openDirect({ ...options, execute: true });
  return { ask: (type, params) => connection.request(type, params), close: () => connection.close() };
}

/** A job that waits for an hour. */
export const later = (job: AddRequest = {}): AddRequest => ({ argv: ['true'], afterMs: 3_600_000, ...job });

export async function refused(answer: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(answer, (error: Error & { code?: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /\n\s+at /);
    return true;
  });
}

/** One world for all tests of the surrounding `describe`, whose file defines them: a test counts where it is defined. */
export function inOneWorld(carrier: (typeof CARRIERS)[number]): () => World {
  let box: Sandbox;
  let world: World;
  let close: () => Promise<void>;
  before(async () => {
    box = new Sandbox();
    const connection = carrier === 'socket' ? await overSocket(box) : await inProcess(box);
    const { ask } = connection;
    close = connection.close;
    const add = async (...jobs: AddRequest[]): Promise<Job[]> => (await ask(Add, { jobs, caller: CALLER })).jobs;
    const one = async (job: AddRequest): Promise<Job> => (await add(job))[0] as Job;
    world = { box, ask, add, one };
  });
  after(async () => {
    await close();
    await box.dispose();
  });
  return () => world;
}
