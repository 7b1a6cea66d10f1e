import { expect, test } from 'vitest';
import type { PatchTasks } from '../commands/tasks/patch-tasks.ts';
import type { RetryTasks } from '../commands/tasks/retry-tasks.ts';
import { leasedTask } from '../testing/leased-task.ts';
import { TestPartition } from '../testing/test-partition.ts';
import type { TestTask } from '../testing/test-requests.ts';

test('a queued task past its deadline is expired instead of leased (matching.no-overdue)', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { queueMs: 500 } }, { timeouts: { totalMs: 500 } }, {});
  partition.now += 500;

  const { session } = partition.attach({ slots: 3 });

  expect(partition.heldBy(session)).toEqual([3]);
  expect(partition.task(1)).toMatchObject({ state: 'expired', reason: 'queue_timeout' });
  expect(partition.task(2)).toMatchObject({ state: 'expired', reason: 'total_timeout' });
  expect(partition.ended).toEqual([1, 2]);
  expect(partition.state.timers.count).toBe(0);
});

test('a millisecond before its deadline a task is leased', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { queueMs: 500, totalMs: 500 } });
  partition.now += 499;

  const { session } = partition.attach();

  expect(partition.heldBy(session)).toEqual([1]);
});

test('a task that comes back to its queue past its total time is expired, not leased again', () => {
  const { partition, session } = leasedTask({ timeouts: { totalMs: 500 } });
  const { session: other } = partition.attach();
  partition.now += 500;

  partition.detach(session);

  expect(partition.task(1)).toMatchObject({ state: 'expired', reason: 'total_timeout' });
  expect(partition.heldBy(other)).toEqual([]);
});

test('a task that becomes ready past its total time is expired by that command', () => {
  const partition = new TestPartition();
  partition.attach();
  partition.submit({ delayMs: 900, timeouts: { totalMs: 500 } });
  partition.now += 500;

  partition.operate<PatchTasks>({
    type: 'patch_tasks',
    patches: [{ id: partition.id(1), runAt: null }],
    inputs: new Uint8Array(0),
    inputEnds: [0],
  });

  expect(partition.task(1)).toMatchObject({ state: 'expired', reason: 'total_timeout' });
});

test('an expired task that is retried has all its time again', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { queueMs: 500, totalMs: 500 } });
  partition.now += 500;
  const { session } = partition.attach();

  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });

  expect(partition.heldBy(session)).toEqual([1]);
});

test('no room is kept for a task whose deadline has passed', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2 });
  partition.submit({}, {});
  partition.submit({ priority: 8, resources: { slots: 2 }, timeouts: { totalMs: 20_000 } }, {});
  partition.now += 20_000;

  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });

  expect(partition.reservations().size).toBe(0);
  expect(partition.heldBy(session)).toEqual([2, 4]);
});

test('no room is kept for others when the deadline of the next in line has passed', () => {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: 2 });
  partition.submit({}, {}, { resources: { slots: 2 } });
  partition.now += 10_000;
  partition.submit({ timeouts: { queueMs: 500 } });
  partition.now += 500;

  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });

  expect(partition.task(4).state).toBe('expired');
  expect(partition.reservations().size).toBe(0);
});

test('a command ends a bounded number of tasks in place of leases, and the next goes on', () => {
  const partition = new TestPartition({ tasksMax: 2100, finishedTasksMax: 2100 });
  partition.submit(...brief(2000), { priority: 0 });
  partition.now += 500;
  const { session } = partition.attach();
  const ended = [partition.ended.length];

  partition.hear();
  ended.push(partition.ended.length);
  partition.hear();

  expect(ended).toEqual([1000, 1000]);
  expect(partition.heldBy(session)).toEqual([2001]);
});

test.each([
  ['one lane', [1500, 0]],
  ['several lanes', [700, 800]],
])('so it does when nobody was given leases for a while: %s', (_, [urgent, plain]) => {
  const partition = new TestPartition({ tasksMax: 1600, finishedTasksMax: 1600 });
  const { session } = partition.attach();
  partition.grantsLeases = false;
  partition.submit(...brief(urgent, 8), ...brief(plain), ...(plain > 0 ? [{ priority: 0 }] : []));
  partition.now += 500;
  partition.grantsLeases = true;

  partition.hear();
  const ended = [partition.ended.length];
  partition.hear();
  ended.push(partition.ended.length);

  expect(ended).toEqual([1000, 500]);
  expect(partition.heldBy(session)).toEqual(plain > 0 ? [1501] : []);
});

test('the last task that a command may end does not hold up the others', () => {
  const partition = new TestPartition({ tasksMax: 1100, finishedTasksMax: 1100 });
  partition.submit(...brief(1000), {});
  partition.now += 500;

  const { session } = partition.attach();

  expect(partition.heldBy(session)).toEqual([1001]);
});

/** Tasks with a short queue timeout. */
function brief(count: number, priority = 4): TestTask[] {
  return Array.from({ length: count }, () => ({ priority, timeouts: { queueMs: 500 } }));
}
