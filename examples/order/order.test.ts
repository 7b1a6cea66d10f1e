import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { order } from './order.ts';
import { charge, fly, invoice, pack } from './tasks.ts';

test('an express order flies', async () => {
  const sluice = new TestSluice([charge, pack, invoice, fly]);

  const run = await sluice.start(order, { amount: 12, items: ['pen', 'ink'], speed: 'express' });

  expect(await run.result()).toEqual({
    invoice: 'Invoice receipt-12.pdf',
    flight: 'LH 7 with pen + ink',
  });
});

test('an order whose payment is slow is still sent', async () => {
  const slow = {
    ...charge,
    run: (_: object, { attempt }: { attempt: number }) => {
      if (attempt < 5) throw new Error('no answer');
      return { receipt: 'late' };
    },
  };
  const sluice = new TestSluice([slow, pack, invoice, fly]);

  const run = await sluice.start(order, { amount: 12, items: ['pen'] });

  expect(await run.result()).toEqual({ invoice: 'Invoice late.pdf', flight: null });
});

test('an order with a declined card fails', async () => {
  const sluice = new TestSluice([charge, pack, invoice, fly]);

  const run = await sluice.start(order, { amount: 5000, items: [] });

  await expect(run.result()).rejects.toMatchObject({ step: 'charge', status: 'failed' });
});
