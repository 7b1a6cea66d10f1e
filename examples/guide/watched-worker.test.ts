import { defineTask } from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { reportFailures } from './watched-worker.ts';

test('a task that fails at all attempts is reported once', async () => {
  const boom = new Error('boom');
  const reported: unknown[] = [];
  const broken = defineTask({ type: 'broken', run: () => Promise.reject(boom) });
  const tracker = {
    captureException: (error: unknown, context: object) => reported.push([error, context]),
  };
  const sluice = new TestSluice([broken], { onAttempt: reportFailures(tracker) });

  const task = await sluice.submit(broken, undefined);
  await task.wait();

  expect(reported).toEqual([[boom, { tags: { taskId: task.id, taskType: 'broken' } }]]);
});
