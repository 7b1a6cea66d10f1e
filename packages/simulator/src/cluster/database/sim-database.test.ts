import { describeLogConformance } from '@sluice/log/conformance';
import { PostgresLog } from '@sluice/postgres';
import { openModel } from './testing/model-fixture.ts';

for (const [engine, segmentBytes] of [
  ['the model of the database', undefined],
  ['the model of the database in small segments', 1],
] as const) {
  describeLogConformance(engine, async () => {
    const { database, address } = openModel();
    const options = {
      address,
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
