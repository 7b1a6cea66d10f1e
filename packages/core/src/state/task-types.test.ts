import { expect, test } from 'vitest';
import type { PutTaskType } from '../commands/queues/put-task-type.ts';
import { decodeBatch } from '../testing/decode-batch.ts';
import { TestPartition } from '../testing/test-partition.ts';
import type { TaskTypeDefinition } from './task-types.ts';

const DEFINITION: TaskTypeDefinition = {
  priority: 8,
  retry: { maxAttempts: 7, delayMs: 5 },
  timeouts: { runMs: 100 },
  tags: { team: 'a' },
  callback: { url: 'http://example.test', on: ['succeeded'] },
};

test('defaults: the request first, then the definition of the type, then the table', () => {
  const partition = new TestPartition();
  put(partition, 'hello', DEFINITION);

  partition.submit({}, { priority: 0, tags: {}, retry: { maxAttempts: 1 } }, { type: 'other' });

  expect(partition.task(1)).toMatchObject({
    priority: 8,
    retry: JSON.stringify(DEFINITION.retry),
    timeouts: '{"runMs":100}',
    tags: '{"team":"a"}',
    callback: '{"url":"http://example.test","on":["succeeded"]}',
  });
  expect(partition.task(2)).toMatchObject({
    priority: 0,
    retry: '{"maxAttempts":1}',
    timeouts: '{"runMs":100}',
    tags: '',
  });
  expect(partition.task(3)).toMatchObject({ priority: 4, retry: '', timeouts: '', tags: '' });
});

test('a definition is taken at the submit: tasks that are there stay as they are', () => {
  const partition = new TestPartition();
  partition.submit({});

  put(partition, 'hello', DEFINITION);
  put(partition, 'hello', { priority: 1 });
  partition.submit({});

  expect([partition.task(1).priority, partition.task(2).priority]).toEqual([4, 1]);
});

test('a definition survives a restart, from the log and from a snapshot', () => {
  const partition = new TestPartition();
  put(partition, 'hello', { priority: 1 });
  partition.restart();
  partition.snapshot();
  partition.restart(0, { fromSnapshot: true });

  partition.submit({});

  expect(partition.task(1).priority).toBe(1);
});

test('a definition that is removed is gone, and one that is put again changes nothing', () => {
  const partition = new TestPartition();
  const replies = [
    put(partition, 'hello', { priority: 1 }),
    put(partition, 'hello', { priority: 1 }),
    put(partition, 'hello', undefined),
    put(partition, 'hello', undefined),
  ];
  const events = partition
    .log()
    .flatMap(decodeBatch)
    .flatMap((record) => record.events);
  partition.submit({});

  expect(events.filter(({ type }) => type === 'task_type_changed')).toHaveLength(2);
  expect(replies.map(({ existed }) => existed)).toEqual([false, true, true, false]);
  expect(partition.task(1).priority).toBe(4);
});

test('a definition belongs to its namespace', () => {
  const partition = new TestPartition();
  put(partition, 'hello', { priority: 1 });
  partition.namespace = 'other';

  partition.submit({});

  expect(partition.task(1).priority).toBe(4);
});

function put(
  partition: TestPartition,
  taskType: string,
  definition: TaskTypeDefinition | undefined,
) {
  return partition.operate<PutTaskType>({ type: 'put_task_type', taskType, definition });
}
