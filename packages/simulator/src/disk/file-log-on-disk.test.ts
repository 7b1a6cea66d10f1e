import { FileLog } from '@sluice/log';
import { describeLogConformance } from '@sluice/log/conformance';
import { TestMachine } from './testing/test-machine.ts';

/** Small enough that each of the suite's longer texts needs a separate segment. */
const SEGMENT_BYTES = 1024;

let seed = 0;

describeLogConformance('file, on a simulated disk,', async () => {
  seed += 1;
  const machine = new TestMachine(seed);
  const random = machine.time.simulation.random('segments');
  const retries = new Set<() => void>();
  const boot = () =>
    FileLog.open({
      folder: '/data/log',
      segmentBytes: SEGMENT_BYTES,
      disk: machine.boot(),
      random: () => random.integer(0, 2 ** 32 - 1),
      startTimer: (_delayMs, run) => {
        retries.add(run);
        return () => retries.delete(run);
      },
    });
  const log = await boot();
  let latest = log;
  return {
    log,
    rival: log,
    async reopen() {
      await latest.close();
      latest = await boot();
      return latest;
    },
    fillDisk() {
      machine.disk.capacityBytes = 0;
    },
    freeDisk() {
      machine.disk.capacityBytes = Number.POSITIVE_INFINITY;
      for (const retry of [...retries]) {
        retries.delete(retry);
        retry();
      }
    },
    dispose: () => latest.close(),
  };
});
