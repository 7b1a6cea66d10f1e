import { describeLogConformance } from '@sluice/log/conformance';
import { PostgresLog, type StoreAddress } from '@sluice/postgres';
import { SimDatabase } from './sim-database.ts';
import { SimDriver } from './sim-driver.ts';

/** Everything happens soon, in the order in which it was sent. */
const soon = (run: () => void) => void setImmediate(run);

function addressOf(database: SimDatabase): StoreAddress {
  const wire = { host: 'test', toDatabase: soon, toClient: soon };
  const makeClient = (name: string) => new SimDriver(database, wire, name) as never;
  return { url: '', schema: 'sluice', shown: 'the model', makeClient };
}

for (const [engine, segmentBytes] of [
  ['the model of the database', undefined],
  ['the model of the database in small segments', 1],
] as const) {
  describeLogConformance(engine, async () => {
    const after = (delayMs: number, run: () => void) => setTimeout(run, delayMs);
    const database = new SimDatabase({ after, clock: Date.now, statementMs: () => 0 });
    const options = {
      address: addressOf(database),
      probeMs: 20,
      ...(segmentBytes && { segmentBytes }),
    };
    const logs: PostgresLog[] = [];
    const open = async () => {
      const log = await PostgresLog.open(options);
      logs.push(log);
      return log;
    };
    const close = async () => {
      for (const log of logs.splice(0)) await log.close();
    };
    return {
      log: await open(),
      rival: await open(),
      async reopen() {
        await close();
        return open();
      },
      fillDisk: async () => {
        database.isFull = true;
      },
      freeDisk: async () => {
        database.isFull = false;
      },
      dispose: close,
    };
  });
}
