/**
 * SIGKILL at every named instant of every transition: before and after each kind of commit, and
 * between the steps of claiming, starting, ending, cancelling and reaping. One kill's successor is
 * the next one's victim, so that recovering is itself interrupted; each queue is then settled once.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { POINTS, type PointName } from '../../server/run/points.ts';
import type { EventType } from '../../shared/event.ts';
import type { AddRequest } from '../../shared/job.ts';
import * as P from '../../shared/protocol.ts';
import type { Client } from '../helpers/client.ts';
import { waitFor } from '../helpers/waitFor.ts';
import { verify } from './account.ts';
import { crashQueue, type CrashQueue, skip, STAYS, type Victim } from './support.ts';

/** Makes something happen. `client`: of the server that is to die; requests to it may never be answered. */
type Act = (queue: CrashQueue, client: Client | null) => Promise<unknown>;

const HOUR_MS = 3_600_000;
const quick = (queue: CrashQueue, more?: AddRequest) => queue.sh('sleep 0.05', more);

const adds =
  (...jobs: ((queue: CrashQueue) => AddRequest)[]): Act =>
  (queue) =>
    queue.add(...jobs.map((job) => job(queue)));

const addsOne: Act = async (queue, client) => {
  const added = await client?.request(P.Add, { jobs: [quick(queue)], caller: queue.caller });
  queue.told(added?.jobs ?? []);
};

/** A job that runs, and then something is asked about it. */
const whileRunning =
  (ask: (client: Client, id: number) => Promise<unknown>): Act =>
  async (queue, client) => {
    const [id = 0] = await queue.add(queue.sh(STAYS));
    await queue.runs(id);
    if (client !== null) await ask(client, id);
  };

const cancelsRunning = whileRunning((client, id) => client.request(P.Cancel, { selection: { ids: [id] } }));

const delayed = (ask: (client: Client, ids: number[]) => Promise<unknown>): Act => {
  return async (queue, client) => {
    if (client === null) return;
    const jobs = [quick(queue, { afterMs: HOUR_MS })];
    const added = await client.request(P.Add, { jobs, caller: queue.caller });
    // Not acknowledged jobs: whether the request below was carried out, nobody may ever hear.
    await ask(
      client,
      added.jobs.map(({ id }) => id),
    );
  };
};

const prunes: Act = async (queue, client) => {
  const [id = 0] = await queue.add(quick(queue));
  await queue.reaches(id, 'done');
  await client?.request(P.Prune, { dryRun: false });
};

const retriesByHand: Act = async (queue, client) => {
  // The second attempt is the one that a person asks for.
  const [id = 0] = await queue.add(queue.sh('[ "$LANEWAY_ATTEMPT" != 1 ]', { maxCrashes: 0 }));
  await queue.reaches(id, 'dead', 'done');
  await client?.request(P.Retry, { selection: { ids: [id] } });
};

const parent = (queue: CrashQueue) => queue.sh('sleep 0.02');
const failingParent = (queue: CrashQueue) => queue.sh('exit 1');
const child = (queue: CrashQueue) => quick(queue, { needs: [{ line: 1 }] });

/** What brings about each kind of event in a server. `reaped` and `checkpointed` have tests of their own. */
const EVENTS: Record<Exclude<EventType, 'reaped' | 'checkpointed'>, Act> = {
  added: addsOne,
  claimed: adds(quick),
  succeeded: adds(quick),
  released: adds(parent, child, child),
  failed: adds((queue) => queue.sh('exit 1', { maxRetries: 1 })),
  timed_out: adds((queue) => queue.sh(STAYS, { timeoutMs: 100, maxRetries: 1 })),
  retried: retriesByHand,
  dead: adds(failingParent, child),
  canceled: adds(failingParent, child, child),
  cancel_requested: cancelsRunning,
  rescheduled: delayed((client, jobs) => client.request(P.Bump, { jobs, now: true })),
  slept: adds((queue) => queue.sh('lane sleep nap 50ms || exit')),
  pruned: prunes,
  lane_changed: async (_queue, client) => {
    await client?.request(P.LanesSet, { name: 'side', settings: { slots: 2 } });
  },
};

const commits = (type?: EventType) =>
  (['before', 'after'] as const).map(
    (when): PointName => `commit:${when}${type === undefined ? '' : `:${type}`}` as PointName,
  );

/** Points of a worker, by what brings a worker there; `reap:*` are reached by the leavings of a kill. */
function actOf(point: (typeof POINTS)[number]): Act {
  return point.startsWith('cancel:') ? cancelsRunning : adds(quick);
}

/** Dies with a job of its own running. */
async function leaveOrphan(queue: CrashQueue, start: () => Victim): Promise<void> {
  const victim = start();
  const [id = 0] = await queue.add(queue.sh(STAYS));
  await queue.runs(id);
  await queue.kill(victim);
}

describe('killed at named instants', { skip, concurrency: 2 }, () => {
  /** Starts a server that dies at `point`, lets something happen, and sees it die. */
  async function dies(queue: CrashQueue, point: string, act: Act): Promise<void> {
    const server = queue.server({ points: `${point}=kill` });
    const client = await queue.client(server);
    const acting = act(queue, client).catch(async (error: unknown) => {
      // What was asked of a server that died stays without an answer; its socket closes a moment before it is gone.
      const isOver = waitFor(() => server.end !== null, { what: 'the server to die' });
      await isOver.catch(() => assert.fail(error as Error));
    });
    // Some acts wait for more than this server lives to see.
    await Promise.race(client === null ? [acting, queue.gone(server)] : [acting, client.closed]);
    await queue.dies(server);
    await client?.close();
  }

  test('a server, around the commit of every kind of event', async (t) => {
    const queue = await crashQueue(t);
    for (const [type, act] of Object.entries(EVENTS)) {
      for (const point of commits(type as EventType)) await dies(queue, point, act);
    }
    for (const point of commits('reaped')) {
      await leaveOrphan(queue, () => queue.server());
      await dies(queue, point, adds());
    }
    t.diagnostic(`${queue.kills} kills`);
    // Delayed ones whose server died before it made them due.
    await queue.own.request(P.Cancel, { selection: { all: true, states: ['scheduled'] } });
    await queue.settle();
  });

  test('a server, between the steps of what it does', async (t) => {
    const queue = await crashQueue(t);
    for (const point of POINTS) {
      if (point.startsWith('reap:')) await leaveOrphan(queue, () => queue.server());
      await dies(queue, point, actOf(point));
    }
    t.diagnostic(`${queue.kills} kills`);
    await queue.settle();
  });

  test('a server, around each of its first commits, whatever they are', async (t) => {
    const queue = await crashQueue(t);
    for (let count = 1; count <= 8; count += 1) {
      // Its death leaves jobs in every state, which its successor has to see to before anything else.
      for (const point of commits()) await dies(queue, `${point}#${count}`, adds(quick, quick, quick, quick, quick));
    }
    t.diagnostic(`${queue.kills} kills`);
    await queue.settle();
  });

  test('lane work, between the steps of what it does and around its first commits', async (t) => {
    const queue = await crashQueue(t);
    const work = (points?: string) => queue.lane(['work', '--concurrency', '4'], { points });
    const instants = [
      ...POINTS.filter((point) => !point.startsWith('cancel:')),
      ...[1, 2, 3, 4].flatMap((count) => commits().map((point) => `${point}#${count}`)),
    ];
    for (const point of instants) {
      if (point.startsWith('reap:')) await leaveOrphan(queue, work);
      const worker = work(`${point}=kill`);
      await queue.add(quick(queue), quick(queue), quick(queue));
      await queue.dies(worker);
    }
    for (const point of POINTS.filter((name) => name.startsWith('cancel:'))) {
      const worker = work(`${point}=kill`);
      const [id = 0] = await queue.add(queue.sh(STAYS));
      await queue.runs(id);
      await queue.own.request(P.Cancel, { selection: { ids: [id] } });
      await queue.dies(worker);
    }
    t.diagnostic(`${queue.kills} kills`);
    await queue.settle();
  });

  test('lane --direct: an add is there or not, never in part; what it ran is run again', async (t) => {
    const queue = await crashQueue(t);
    const add = (...args: string[]) => ['--direct', 'add', '--crashes', '9', '--retry-delay', '1ms', ...args];
    const script = ['--', ...(queue.sh('sleep 0.05').argv ?? [])];
    const before = queue.lane(add('--label', 'never', ...script), { points: 'commit:before:added=kill' });
    const after = queue.lane(add('--label', 'once', ...script), { points: 'commit:after:added=kill' });
    await Promise.all([queue.dies(before), queue.dies(after)]);
    const { jobs } = await queue.own.request(P.List, {});
    assert.deepEqual(
      jobs.map(({ label, state, attempts }) => [label, state, attempts]),
      [['once', 'queued', 0]],
    );
    queue.told(jobs);
    for (const point of ['claim:after', 'spawn:after', 'started:after', 'exit:before-finish', 'finish:after']) {
      const victim = queue.lane(add('--wait', ...script), { points: `${point}=kill` });
      await queue.dies(victim);
    }
    queue.told((await queue.own.request(P.List, {})).jobs);
    t.diagnostic(`${queue.kills} kills`);
    await queue.settle();
  });

  test('inside a job: a stage is stored and done, or not stored and done again', async (t) => {
    const queue = await crashQueue(t);
    const server = queue.server();
    const stage = (point: string, verb: string) =>
      queue.sh(
        `[ "$LANEWAY_ATTEMPT" = 1 ] && export LANEWAY_TEST_POINTS=${point}=kill
         ${verb} || exit`,
        { maxRetries: 1 },
      );
    const checkpoint = `lane checkpoint build -- sh -c 'echo "$LANEWAY_JOB_ID build $LANEWAY_ATTEMPT" >>"$BOX/stages"; echo made'`;
    const ids = await queue.add(
      stage('commit:before:checkpointed', checkpoint),
      stage('commit:after:checkpointed', checkpoint),
      stage('commit:before', 'lane sleep nap 50ms'),
      stage('commit:after', 'lane sleep nap 50ms'),
    );
    for (const id of ids) await queue.reaches(id, 'done');
    await queue.ends(server);
    queue.kills += ids.length;
    await verify(queue);
    const attempts = await Promise.all(ids.map((id) => queue.attempts(id)));
    assert.deepEqual(
      attempts.map((each) => each.map(({ state }) => state)),
      [
        ['failed', 'succeeded'],
        ['failed', 'succeeded'],
        // Nothing was recorded, so the kill was a failure; the next attempt slept, and the third went on.
        ['failed', 'succeeded', 'succeeded'],
        // The sleep was recorded: this is how an attempt ends that sleeps.
        ['succeeded', 'succeeded'],
      ],
    );
    assert.deepEqual(queue.lines('stages').sort(), [`${ids[0]} build 1`, `${ids[0]} build 2`, `${ids[1]} build 1`]);
  });
});
