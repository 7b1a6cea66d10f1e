import { expect, test } from 'vitest';
import { TestRuns } from '../../testing/runs/test-runs.ts';
import { TestPartition } from '../../testing/test-partition.ts';

const GRACE_MS = 10_000;

test('a cancelled run does not retry a task that was being stopped for its time', () => {
  const partition = new TestPartition();
  const runs = new TestRuns(partition);
  const { session } = partition.attach({ types: ['step'], slots: 1 });
  const step = { name: 'step', taskReferenceName: 'one', timeouts: { runMs: 1000 } };
  runs.register('flow', { tasks: [{ ...step, retry: { maxAttempts: 3 } }] });
  const run = runs.begin('flow');
  const [task] = partition.heldBy(session);
  partition.now += 1000;
  partition.advance();

  runs.cancel(run);
  partition.now += GRACE_MS;
  partition.advance();

  expect(partition.task(task).state).toBe('cancelled');
  expect(runs.run(run).state).toBe('cancelled');
});
