import { expect, test } from 'vitest';
import { MemoryLog } from '../memory/memory-log.ts';
import { fencesAnotherBatch } from './conformance-fencing.ts';

test('the suite fails on a log that ignores the nonce of a batch', async () => {
  const sound = new MemoryLog();
  const log = new MemoryLog();
  const planted = {
    acquire: () => log.acquire(),
    append: (batch: Parameters<MemoryLog['append']>[0]) => log.append({ ...batch, nonce: 1 }),
  };

  await fencesAnotherBatch(sound);
  await expect(fencesAnotherBatch(planted)).rejects.toThrow("expected 'duplicate' to be 'fenced'");
});
