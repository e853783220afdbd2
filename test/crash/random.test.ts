/**
 * SIGKILL at random instants, under load: a server, a `lane work` and a stream of `lane --direct add`
 * are killed over and over, while jobs of every kind are queued, cancelled, retried and pruned
 * through whichever of them lives. Then everything must add up.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AddRequest, Job } from '../../shared/job.ts';
import * as P from '../../shared/protocol.ts';
import type { Client } from '../helpers/client.ts';
import { type Random, randomFrom, withSeed } from './random.ts';
import { crashQueue, type CrashQueue, skip, type Victim } from './support.ts';

/** Of each of the three victims, in each of the two queues. */
const KILLS = 24;
/** Live jobs beyond which no more are added: the queue must settle in the end. */
const MOST_LIVE = 30;

const FAILS_ONCE = `f="$BOX/locks/$LANEWAY_JOB_ID.failed"; [ -e "$f" ] && exit; touch "$f"; exit 3`;
const STAGED = `for stage in a b; do
  [ $stage = a ] || lane sleep nap 20ms || exit
  lane checkpoint $stage -- sh -c "echo $LANEWAY_JOB_ID $stage $LANEWAY_ATTEMPT >>$BOX/stages" || exit
done`;

function anyJobs(queue: CrashQueue, random: Random): AddRequest[] {
  const slow = `sleep 0.0${random.below(8)}`;
  switch (random.below(9)) {
    case 0:
      return [queue.sh(FAILS_ONCE, { maxRetries: 1 })];
    case 1:
      return [queue.sh(`(sleep 0.05 & sleep 0.05 & wait); ${slow}`)];
    case 2:
      return [
        queue.sh('exit 4'),
        queue.sh('true', { needs: [{ line: 1 }] }),
        queue.sh('true', { needs: [{ line: 1 }], onNeedFailure: 'release' }),
      ];
    case 3:
      return [
        queue.sh(slow),
        queue.sh('true', { needs: [{ line: 1 }] }),
        queue.sh('true', { needs: [{ line: 1 }, { line: 2 }] }),
      ];
    case 4:
      return [queue.sh('exec sleep 600', { timeoutMs: 50 + random.below(100) })];
    case 5:
      return [queue.sh(slow, { priority: random.below(3), split: true, afterMs: 1 + random.below(50) })];
    case 6:
      return [queue.sh('sleep 0.1', { key: 'one at a time' })];
    case 7:
      return random.below(3) === 0 ? [queue.sh(STAGED)] : [queue.sh(slow)];
    default:
      return [queue.sh(slow), queue.sh('true')];
  }
}

/** Starts a victim and kills it at some instant of its life, again and again. `ended` learns of those that were faster. */
async function killOften(
  queue: CrashQueue,
  random: Random,
  start: () => Victim,
  ended: (victim: Victim) => void = () => undefined,
): Promise<void> {
  for (let killed = 0; killed < KILLS;) {
    const victim = start();
    // Some in the midst of starting, some in the midst of work, which time alone would miss on a slow machine.
    if (random.below(4) === 0) await pause(random.below(300));
    else {
      await queue.moves(random.below(25), () => victim.end !== null);
      await pause(random.below(15));
    }
    victim.child.kill('SIGKILL');
    await queue.gone(victim);
    if (victim.end === 'SIGKILL') {
      killed += 1;
      queue.kills += 1;
    }
    ended(victim);
  }
}

/** Asks for this and that while the kills go on, of the server if one answers. */
async function feed(queue: CrashQueue, random: Random, goesOn: () => boolean): Promise<void> {
  let client: Client | null = null;
  let lost = true;
  while (goesOn()) {
    if (lost) {
      client = await queue.clientOfAny();
      lost = client === null;
      void client?.closed.then(() => (lost = true));
    }
    const asked = client !== null && !lost ? ask(queue, client, random) : ask(queue, queue.own, random);
    // Never answered when the server dies: whatever became of it, nobody was told.
    await Promise.race([asked, client?.closed]);
    await pause(random.below(20));
  }
  await client?.close();
}

type Asked = Pick<CrashQueue['own'], 'request'>;

async function ask(queue: CrashQueue, to: Asked, random: Random): Promise<void> {
  try {
    const { counts } = await queue.own.request(P.StatusRequest, null);
    const known = [...queue.acknowledged];
    const some = known.length === 0 ? [] : [known[random.below(known.length)] ?? 0, known.at(-1) ?? 0];
    const dice = random.below(20);
    if (dice === 0) await to.request(P.Cancel, { selection: { ids: some } });
    else if (dice === 1) await to.request(P.Retry, { selection: { ids: some }, force: true, withDependents: true });
    else if (dice === 2) await to.request(P.Bump, { jobs: some, now: true });
    else if (dice === 3) await to.request(P.Prune, { dryRun: false, olderThanMs: 2000 });
    else if (counts.blocked + counts.queued + counts.running < MOST_LIVE) {
      queue.told((await to.request(P.Add, { jobs: anyJobs(queue, random), caller: queue.caller })).jobs);
    }
  } catch (error) {
    if (!/the socket closed|KEY_CONFLICT/.test((error as Error).message)) throw error;
  }
}

describe('killed at random', { skip, concurrency: 2 }, () => {
  for (const nth of [1, 2]) {
    test(`queue ${nth}: nothing acknowledged is lost, nothing runs twice at once`, (t) =>
      withSeed(20_260_000 + nth, async (seed) => {
        const queue = await crashQueue(t);
        const random = (stream: number): Random => randomFrom(seed * 10 + stream);
        const adding = randomFrom(seed);
        let killing = 3;
        const untilDone = async (
          stream: number,
          start: () => Victim,
          ended?: (victim: Victim) => void,
        ): Promise<void> => {
          await killOften(queue, random(stream), start, ended);
          killing -= 1;
        };
        const told = ({ end, stdout }: Victim): void => {
          // Killed only after it had said so: it has been said.
          if (end === 0 || stdout.endsWith('}\n')) queue.told([(JSON.parse(stdout) as { job: Job }).job]);
        };
        await Promise.all([
          untilDone(1, () => queue.server()),
          untilDone(2, () => queue.lane(['work', '--concurrency', '3'])),
          untilDone(
            3,
            () => {
              const { argv = [] } = queue.sh(`sleep 0.0${adding.below(8)}`);
              return queue.lane(['--direct', '--json', 'add', '--crashes', '999', '--', ...(argv ?? [])]);
            },
            told,
          ),
          feed(queue, random(4), () => killing > 0),
        ]);
        assert.ok(queue.acknowledged.size > 20, `only ${queue.acknowledged.size} jobs were acknowledged`);
        t.diagnostic(`${queue.kills} kills, ${queue.acknowledged.size} jobs`);
        await queue.settle();
      }));
  }
});
