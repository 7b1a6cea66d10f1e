import { MemorySnapshots } from '@sluice/log';
import { expect, test } from 'vitest';
import type { FoldOrder } from './fold.ts';
import { foldBetweenTurns } from './fold-between-turns.ts';
import { partitionOptions, TestEngine } from './testing/test-engine.ts';

async function filled() {
  const test = await TestEngine.start();
  for (const input of ['1', '2', '3']) await test.submit(input);
  const snapshots = new MemorySnapshots();
  const readLog: FoldOrder['readLog'] = ({ from, onBatch }) => test.log.read(from, onBatch);
  return { snapshots, source: { partition: partitionOptions(), snapshots, readLog } };
}

test('a fold in this process makes a snapshot of the log', async () => {
  const { snapshots, source } = await filled();

  const fold = foldBetweenTurns(source)(3);

  expect(await fold.done).toEqual({ kind: 'saved' });
  expect(await snapshots.positions()).toEqual([3]);
});

test('a fold that is cancelled while it reads saves nothing', async () => {
  const { snapshots, source } = await filled();
  let batches = 0;
  const fold = foldBetweenTurns({
    ...source,
    readLog: (range) =>
      source.readLog({
        ...range,
        onBatch: (batch) => {
          batches += 1;
          if (batches === 2) void fold.cancel();
          return range.onBatch(batch);
        },
      }),
  })(3);

  expect(await fold.done).toMatchObject({ kind: 'failed' });
  expect(batches).toBe(2);
  expect(await snapshots.positions()).toEqual([]);
});

test('a fold that is cancelled before it reads saves nothing, and is over then', async () => {
  const { snapshots, source } = await filled();
  const fold = foldBetweenTurns(source)(3);

  await fold.cancel();

  expect(await fold.done).toMatchObject({ kind: 'failed' });
  expect(await snapshots.positions()).toEqual([]);
});
