import { beforeEach, expect, test } from 'vitest';
import type { PutTaskType } from '../commands/queues/put-task-type.ts';
import type { SetQueuePaused } from '../commands/queues/set-queue-paused.ts';
import type { CancelTasks } from '../commands/tasks/cancel-tasks.ts';
import type { RetryTasks } from '../commands/tasks/retry-tasks.ts';
import { TestPartition } from '../testing/test-partition.ts';

const ROOMY = {
  tasksMax: 100,
  payloadBytesMax: 10_000,
  dedupeKeysMax: 100,
  taskTypesMax: 100,
  shapesMax: 100,
  sessionsMax: 100,
  schedulesMax: 100,
  runsMax: 100,
};

let partition: TestPartition;

function limited(quotas: Partial<typeof ROOMY>): void {
  partition = new TestPartition({ quotas: { ...ROOMY, ...quotas } });
}

beforeEach(() => limited({}));

function cancelFirst(): void {
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });
}

test('a namespace that used up its tasks is refused, and others are not', () => {
  limited({ tasksMax: 2 });
  partition.submit({}, {});

  const refused = partition.submit({});
  partition.namespace = 'other';
  const taken = partition.submit({}, {});

  expect(refused).toMatchObject({ rejection: 'quota_exceeded', quota: 'tasksMax', slots: [] });
  expect(taken.rejection).toBeUndefined();
});

test('a task that succeeded no longer counts, a dead letter does', () => {
  limited({ tasksMax: 2 });
  const { session } = partition.attach({ slots: 2 });
  partition.submit({}, {});
  const [first, second] = partition.leasesOf(session);
  partition.report(session, { lease: first, kind: 'succeeded' });
  partition.report(session, { lease: second, kind: 'failed', retryable: false });

  expect(partition.submit({}).rejection).toBeUndefined();
  expect(partition.submit({}).quota).toBe('tasksMax');
});

test('a task that runs again counts again', () => {
  limited({ tasksMax: 1 });
  partition.submit({});
  cancelFirst();
  partition.operate<RetryTasks>({ type: 'retry_tasks', ids: [partition.id(1)] });

  expect(partition.state.namespaces.find('default')?.tasks).toBe(1);
  expect(partition.submit({}).quota).toBe('tasksMax');
});

test('payloads of open tasks count, also what a patch or a report changes', () => {
  limited({ payloadBytesMax: 10 });
  partition.submit({ input: '"1234"' });

  expect(partition.submit({ input: '"1234"' }).quota).toBe('payloadBytesMax');
  expect(partition.submit({ input: '"12"' }).rejection).toBeUndefined();
});

test('dedupe keys count until their window is over', () => {
  limited({ dedupeKeysMax: 1 });
  const keyed = (key: number) => ({ dedupe: { key, input: 0, windowMs: 1000 } });
  partition.submit(keyed(1));

  expect(partition.submit(keyed(2)).quota).toBe('dedupeKeysMax');
  expect(partition.submit({}).rejection).toBeUndefined();
  partition.now += 1000;
  partition.advance();
  expect(partition.submit(keyed(2)).rejection).toBeUndefined();
});

test('task types count while tasks or a pause need them', () => {
  limited({ taskTypesMax: 1 });
  const pause = (taskType: string, paused: boolean) =>
    partition.operate<SetQueuePaused>({ type: 'set_queue_paused', taskType, paused });
  pause('a', true);

  expect(partition.submit({ type: 'b' }).quota).toBe('taskTypesMax');
  expect(pause('b', true).rejection).toBe('quota_exceeded');
  pause('a', false);
  expect(partition.submit({ type: 'b' }).rejection).toBeUndefined();
});

test('sessions of one namespace are bounded, and one that comes back is not new', () => {
  limited({ sessionsMax: 1 });
  const { session } = partition.attach();

  expect(partition.attach().rejection).toBe('quota_exceeded');
  expect(partition.resume(session, []).resumed).toBe(true);
  partition.namespace = 'other';
  expect(partition.attach().rejection).toBeUndefined();
});

test('a task that is sent again at a bound is known, not refused', () => {
  limited({ tasksMax: 1 });
  const task = { dedupe: { key: 1, input: 0, windowMs: 1000 } };
  partition.submit(task);

  const again = partition.submit(task);

  expect(again.rejection).toBeUndefined();
  expect(again.known?.size).toBe(1);
});

test('what namespaces use, and the places of queues, come back from a snapshot', () => {
  partition.submit({ type: 'a', input: '1' }, { type: 'b' });
  cancelFirst();
  partition.restart(0, { fromSnapshot: true });

  const use = partition.state.namespaces.find('default');

  expect(use).toMatchObject({ tasks: 1, payloadBytes: 0, taskTypes: 2 });
});

test('a namespace that used up its shapes is refused new ones, and others are not', () => {
  limited({ shapesMax: 2 });
  partition.submit({ resources: { cpu: 1 } }, { resources: { cpu: 2 } });

  const refused = partition.submit({ resources: { cpu: 3 } });
  const known = partition.submit({ resources: { cpu: 2 } }, {});
  partition.namespace = 'other';
  const taken = partition.submit({ resources: { cpu: 3 } });

  expect(refused).toMatchObject({ rejection: 'quota_exceeded', quota: 'shapesMax', slots: [] });
  expect(known.rejection).toBeUndefined();
  expect(taken.rejection).toBeUndefined();
});

test('a shape counts once in a submit, and no more when its last task has ended', () => {
  limited({ shapesMax: 1 });
  partition.submit({ resources: { cpu: 1 } });

  cancelFirst();

  const again = partition.submit({ resources: { cpu: 2 } }, { resources: { cpu: 2 } });
  expect(again.rejection).toBeUndefined();
  expect(partition.state.namespaces.find('default')?.shapes.size).toBe(1);
});

test('resources that a definition gives count as a shape', () => {
  limited({ shapesMax: 0 });
  partition.operate<PutTaskType>({
    type: 'put_task_type',
    taskType: 'a',
    definition: { resources: { gpu: 1 } },
  });

  expect(partition.submit({ type: 'a' }).quota).toBe('shapesMax');
});
