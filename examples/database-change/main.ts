/** Runs the change on a server: `npm start` in one terminal, this program in another one. */
import { RunFailed, Sluice } from '@sluice/sdk';
import { shards } from './database.ts';
import { databaseChange } from './database-change.ts';
import { apply, backUp, prepare, rollBack, verify } from './tasks.ts';

for (const shard of ['eu', 'us']) shards.set(shard, ['id']);
const sluice = new Sluice();
await sluice.work([prepare, backUp, apply, verify, rollBack]);

const run = await sluice.start(databaseChange, { column: 'email', shards: ['eu', 'us'] });
console.log(`approve each shard: npx node examples/database-change/approve.ts ${run.id} yes`);
try {
  const { statement } = await run.result();
  console.log(`done: ${statement}`);
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  console.log(error.error?.message);
}
await sluice.close();
