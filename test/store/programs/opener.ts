/** Opens the queue of a folder, adds one job, prints the queue's identity and schema. */
import { systemClock } from '../../../server/clock.ts';
import { openStore } from '../../../server/store/open.ts';
import { addOne } from '../support.ts';

async function main(): Promise<void> {
  const store = await openStore({ folder: process.argv[2] as string, clock: systemClock });
  const id = await addOne(store);
  const { instance, schema } = store;
  await store.close();
  console.log(JSON.stringify({ instance, schema, id }));
}

void main();
