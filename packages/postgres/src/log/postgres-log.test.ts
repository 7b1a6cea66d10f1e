import { describeLogConformance } from '@sluice/log/conformance';
import { fillDisk, freeDisk } from '../testing/full-disk.ts';
import { TempStore } from '../testing/store-fixture.ts';

/** Smaller than an empty table, so that the log goes on in another one as often as it can. */
const SMALL_SEGMENT_BYTES = 1;

for (const [engine, segmentBytes] of [
  ['PostgreSQL', undefined],
  ['PostgreSQL in small segments', SMALL_SEGMENT_BYTES],
] as const) {
  describeLogConformance(engine, async () => {
    const options = segmentBytes === undefined ? {} : { segmentBytes };
    const store = await TempStore.create();
    return {
      log: await store.open(options),
      rival: await store.open(options),
      async reopen() {
        await store.closeLogs();
        return store.open(options);
      },
      fillDisk: () => fillDisk(store),
      freeDisk: () => freeDisk(store),
      dispose: () => store.dispose(),
    };
  });
}
