import { expect, test } from 'vitest';
import { describeLogConformance } from '../conformance/conformance.ts';
import { appendTexts, readTexts } from '../testing/log-fixture.ts';
import { MemoryLog, MemoryLogStore } from './memory-log.ts';

describeLogConformance('memory', async () => {
  const store = new MemoryLogStore();
  const handles = [new MemoryLog(store), new MemoryLog(store)];
  return {
    log: handles[0],
    rival: handles[1],
    async reopen() {
      for (const handle of handles) await handle.close();
      return new MemoryLog(store);
    },
    fillDisk() {
      store.isFull = true;
    },
    freeDisk() {
      store.isFull = false;
    },
    async dispose() {
      for (const handle of handles) await handle.close();
    },
  };
});

test('memory logs without a common store have nothing in common', async () => {
  const one = new MemoryLog();
  await appendTexts(one, await one.acquire(), ['mine']);

  expect(await readTexts(new MemoryLog())).toEqual([]);
});
