/** Registers a worker, then claims and finishes until nothing is left of the queue; prints whom it claimed. */
import { systemClock } from '../../../server/clock.ts';
import { openStore } from '../../../server/store/open.ts';
import { anyLive } from '../../../server/store/queries/index.ts';
import { claim, finish, register } from '../support.ts';

async function main(): Promise<void> {
  const [folder, workerId] = process.argv.slice(2) as [string, string];
  const store = await openStore({ folder, clock: systemClock });
  await register(store, workerId);
  const claimed: number[] = [];
  let most = 0;
  while (store.read((reader) => anyLive(reader))) {
    const owners = await claim(store, { workerId, limit: 3 });
    claimed.push(...owners.map((owner) => owner.jobId));
    most = Math.max(
      most,
      store.read(({ db }) => db.prepare<[], number>('SELECT max(running) FROM lanes').pluck().get() ?? 0),
    );
    await Promise.all(owners.map((owner) => finish(store, owner)));
  }
  await store.close();
  console.log(JSON.stringify({ claimed, most }));
}

void main();
