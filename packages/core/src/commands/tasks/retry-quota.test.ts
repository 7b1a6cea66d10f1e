import { expect, test } from 'vitest';
import type { Quotas } from '../../state/quotas.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { hashWords } from '../../testing/test-payloads.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { StartRedrive } from '../dead-letters/redrive-tasks.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { EndTask } from './end-task.ts';
import type { ReadmitTask } from './readmit-task.ts';
import type { RetryTasks } from './retry-tasks.ts';

const QUOTAS: Quotas = {
  tasksMax: 3,
  payloadBytesMax: 10,
  dedupeKeysMax: 10,
  taskTypesMax: 10,
  shapesMax: 1,
  sessionsMax: 10,
  schedulesMax: 10,
  runsMax: 10,
};

test('cancelled tasks are retried as far as their namespace has room, and no further', () => {
  const partition = new TestPartition({ quotas: QUOTAS });
  partition.submit({}, {}, {});
  cancel(partition, 1, 2, 3);
  partition.submit({});

  const outcomes = retry(partition, [1, 2, 3]);

  expect(outcomes).toEqual([undefined, undefined, 'tasksMax']);
  expect(statesOf(partition, 1, 2, 3)).toEqual(['queued', 'queued', 'cancelled']);
  expect(partition.state.namespaces.find('default')?.tasks).toBe(3);
});

test('dead letters count, so a full namespace retries and redrives them', () => {
  const partition = new TestPartition({ quotas: QUOTAS });
  partition.submit({}, {}, {});
  fail(partition, 1, 2);

  const outcomes = retry(partition, [1]);
  partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec: 10 });
  passTime(partition, 100);

  expect(outcomes).toEqual([undefined]);
  expect(statesOf(partition, 1, 2, 3)).toEqual(['queued', 'queued', 'queued']);
});

test('a dead letter gets a longer input as far as the namespace has room', () => {
  const partition = new TestPartition({ quotas: QUOTAS });
  partition.submit({ input: '1' }, { input: '2' });
  fail(partition, 1);

  const tooLong = retry(partition, [1], '1234567890');
  const fitting = retry(partition, [1], '123456789');

  expect([tooLong, fitting]).toEqual([['payloadBytesMax'], [undefined]]);
});

test('the payload and the shape of a retried task count for its namespace', () => {
  const partition = new TestPartition({ quotas: QUOTAS });
  partition.submit({ input: '123456789' }, { resources: { cpu: 2 } });
  cancel(partition, 1, 2);
  partition.submit({ input: '12', resources: { cpu: 3 } });

  expect(retry(partition, [1, 2])).toEqual(['payloadBytesMax', 'shapesMax']);
});

test('a task that left memory comes back only if its namespace has room', () => {
  const partition = new TestPartition({ quotas: QUOTAS, finishedTasksMax: 0 });
  partition.submit({});
  const id = partition.id(1);
  cancel(partition, 1);
  partition.submit({}, {}, {});
  const readmit = () =>
    partition.operate<ReadmitTask>({
      type: 'readmit_task',
      id,
      state: TASK_STATES.indexOf('cancelled'),
      spec: { type: 'hello' },
      input: testUtf8.encode('1'),
    });

  const full = readmit();
  cancel(partition, 2);

  expect(full).toMatchObject({ rejection: 'quota_exceeded', quota: 'tasksMax' });
  expect(readmit().rejection).toBeUndefined();
  expect(partition.task(1).state).toBe('queued');
});

/** The quota that each retry exceeds. */
function retry(partition: TestPartition, numbers: number[], input?: string) {
  const by = { actor: 'k_1', address: '::1', request: 'r_1', subject: 't_1', detail: '' };
  const changed =
    input === undefined
      ? {}
      : { input: { bytes: testUtf8.encode(input), words: hashWords(1) }, by };
  const ids = numbers.map((number) => partition.id(number));
  const { outcomes } = partition.operate<RetryTasks>({ type: 'retry_tasks', ids, ...changed });
  return outcomes.map(({ quota }) => quota);
}

function cancel(partition: TestPartition, ...numbers: number[]): void {
  const ids = numbers.map((number) => partition.id(number));
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids, graceMs: 0 });
}

function fail(partition: TestPartition, ...numbers: number[]): void {
  const payload = new Uint8Array();
  for (const number of numbers) {
    const id = partition.id(number);
    partition.operate<EndTask>({ type: 'end_task', id, outcome: 'failed', payload });
  }
}

function statesOf(partition: TestPartition, ...numbers: number[]): string[] {
  return numbers.map((number) => partition.task(number).state);
}
