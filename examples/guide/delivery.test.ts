import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { awaitDelivery } from './delivery.ts';

test('a delivery is looked for every hour', async () => {
  let looks = 0;
  const delivery = awaitDelivery(async () => ++looks === 4);
  const sluice = new TestSluice([delivery], { fakeTimers: true });

  const task = await sluice.submit(delivery, { orderId: 'o_1' });

  expect(await task.result()).toBe('2030-01-01T03:00:00.000Z');
});

test('a delivery is given up after a day', async () => {
  const delivery = awaitDelivery(async () => false);
  const sluice = new TestSluice([delivery], { fakeTimers: true });

  const task = await sluice.submit(delivery, { orderId: 'o_1' });

  await expect(task.result()).rejects.toThrow('o_1 did not arrive within a day');
});
