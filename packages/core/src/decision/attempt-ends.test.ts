import { expect, test } from 'vitest';
import type { CancelTasks } from '../commands/tasks/cancel-tasks.ts';
import type { EndTask } from '../commands/tasks/end-task.ts';
import { leasedTask, passTime } from '../testing/leased-task.ts';
import { LEASE_MS, type TestPartition } from '../testing/test-partition.ts';
import { testUtf8 } from '../testing/test-utf8.ts';
import { ATTEMPT_OUTCOMES } from './attempt-ends.ts';

const TWICE = { maxAttempts: 2, delaysMs: [50], jitter: false };

/** The attempts that the last command ended. */
function ends({ outputs, state }: TestPartition) {
  return outputs.attemptSlots.map((slot, i) => ({
    task: state.tasks.number[slot],
    outcome: ATTEMPT_OUTCOMES[outputs.attemptOutcomes[i]],
    ms: outputs.attemptMs[i],
  }));
}

function cancel(partition: TestPartition): void {
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });
}

test('a success is an end with its time since the start that the worker named', () => {
  const { partition, session, lease } = leasedTask();
  partition.now += 30;

  const startedAt = partition.now - 20;
  partition.report(session, { lease, kind: 'succeeded', startedAt });

  expect(ends(partition)).toEqual([{ task: 1, outcome: 'succeeded', ms: 20 }]);
});

test('a failure is an end also when another attempt follows', () => {
  const { partition, session, lease } = leasedTask({ retry: TWICE });
  partition.now += 10;
  partition.report(session, { lease, kind: 'started' });
  partition.now += 5;

  partition.report(session, { lease, kind: 'failed' });

  expect(partition.task(1).state).toBe('waiting');
  expect(ends(partition)).toEqual([{ task: 1, outcome: 'failed', ms: 5 }]);
});

test('a lost worker ends the attempt, whether or not it was the last', () => {
  for (const maxAttempts of [1, 2]) {
    const { partition } = leasedTask({ retry: { ...TWICE, maxAttempts } });
    partition.now += LEASE_MS + 1;

    partition.expire();

    expect(ends(partition)).toMatchObject([{ task: 1, outcome: 'lost' }]);
  }
});

test('a refused task and one that was handed back are returned, not lost', () => {
  const refused = leasedTask();
  refused.partition.report(refused.session, { lease: refused.lease, kind: 'refused' });
  const handedBack = leasedTask();
  handedBack.partition.detach(handedBack.session);

  expect(ends(refused.partition)).toMatchObject([{ outcome: 'returned' }]);
  expect(ends(handedBack.partition)).toMatchObject([{ outcome: 'returned' }]);
});

test('an attempt that took too long ends as timed out', () => {
  const { partition, session, lease } = leasedTask({ timeouts: { runMs: 500 }, retry: TWICE });
  passTime(partition, 500);

  partition.report(session, { lease, kind: 'failed' });

  expect(ends(partition)).toEqual([{ task: 1, outcome: 'timed_out', ms: 500 }]);
});

test('a deferred attempt ends when the task is ended from outside', () => {
  const { partition, session, lease } = leasedTask();
  partition.report(session, { lease, kind: 'later' });
  const deferred = ends(partition);
  partition.now += 70;

  const payload = testUtf8.encode('"out"');
  const id = partition.id(1);
  partition.operate<EndTask>({ type: 'end_task', id, outcome: 'succeeded', payload, key: 0 });

  expect(deferred).toEqual([]);
  expect(ends(partition)).toEqual([{ task: 1, outcome: 'succeeded', ms: 70 }]);
});

test('cancelling ends an attempt only if one is under way', () => {
  const running = leasedTask();
  cancel(running.partition);
  running.partition.report(running.session, { lease: running.lease, kind: 'cancelled' });
  const waiting = leasedTask({ retry: TWICE });
  waiting.partition.report(waiting.session, { lease: waiting.lease, kind: 'failed' });

  cancel(waiting.partition);

  expect(ends(running.partition)).toMatchObject([{ outcome: 'cancelled' }]);
  expect(waiting.partition.ended).toEqual([1]);
  expect(ends(waiting.partition)).toEqual([]);
});
