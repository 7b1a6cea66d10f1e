import { LIMITS } from '@sluice/protocol/limits';
import { expect, test } from 'vitest';
import type { ApiCaller } from '../api/api-caller.ts';
import { RefusedError } from '../api/api-errors.ts';
import { batchesOf, type ChangeItem, changeInBatches } from './schedule-batches.ts';

const items = Array.from({ length: 2500 }, (_, n): ChangeItem => ({ op: 'put', id: `s${n}` }));

test('batches are bounded by number and by bytes, and keep the order', () => {
  expect(batchesOf(items, 1000).map(({ length }) => length)).toEqual([1000, 1000, 500]);
  expect(batchesOf(items, 1000).flat()).toEqual(items);

  const big = items.slice(0, 40).map((item) => ({ ...item, input: 'é'.repeat(120_000) }));
  const batches = batchesOf(big, 1000);
  expect(batches.flat()).toEqual(big);
  expect(batches.length).toBeGreaterThan(1);
  for (const batch of batches) {
    expect(Buffer.byteLength(JSON.stringify(batch))).toBeLessThan(LIMITS.bodyBytesMax);
  }
});

test('each item has its result, also when a whole batch is refused', async () => {
  let calls = 0;
  const api = {
    post: async (_path: string, _fields: unknown, batch: readonly ChangeItem[]) => {
      calls += 1;
      if (calls === 2) throw new RefusedError('too busy (overloaded)', { code: 'overloaded' });
      const error = { code: 'schedule_not_found', message: 'none' };
      return {
        items: batch.map(({ id }) => (id === 'bad' ? { error } : { ok: true, change: 'created' })),
      };
    },
  } as unknown as ApiCaller;
  const changes: ChangeItem[] = [
    { op: 'put', id: 'a' },
    { op: 'put', id: 'bad' },
    { op: 'put', id: 'c' },
    { op: 'put', id: 'd' },
    { op: 'delete', id: 'bad' },
  ];

  expect(await changeInBatches(api, changes, 2)).toEqual([
    { change: 'created' },
    { change: '', problem: 'none (schedule_not_found)' },
    { change: '', problem: 'too busy (overloaded)' },
    { change: '', problem: 'too busy (overloaded)' },
    // It is gone, as it should be.
    { change: '' },
  ]);
});
