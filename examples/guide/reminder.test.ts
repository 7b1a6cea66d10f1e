import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { remind } from './reminder.ts';

test('a reminder is sent after three days', async () => {
  const sluice = new TestSluice([remind]);

  const task = await sluice.submit(remind, { user: 'ada' }, { delayMs: 3 * 86_400_000 });

  expect(await task.result()).toBe('sent to ada');
  expect(sluice.now.toISOString()).toBe('2030-01-04T00:00:00.000Z');
});
