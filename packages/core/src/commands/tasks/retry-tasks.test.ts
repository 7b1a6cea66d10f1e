import { expect, test } from 'vitest';
import type { PartitionLimits } from '../../state/state.ts';
import { REPLACE_DUPLICATE } from '../../task/dedupe-claim.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import { hashWords } from '../../testing/test-payloads.ts';
import { testUtf8 } from '../../testing/test-utf8.ts';
import type { CancelTasks } from './cancel-tasks.ts';
import type { NewInput } from './change-input.ts';
import type { ReadmitTask } from './readmit-task.ts';
import type { RetryTasks } from './retry-tasks.ts';

const ONCE = { maxAttempts: 1 };

test('retry: a failed task runs again with the same id and attempts from 1', () => {
  const { partition, session, lease } = leasedTask({ input: '1', retry: ONCE });
  partition.report(session, { lease, kind: 'failed', payload: '"no"' });
  const id = partition.id(1);

  expect(retry(partition, id)).toBeUndefined();

  expect(partition.pushes).toMatchObject([{ task: 1, session }]);
  expect(partition.task(1)).toMatchObject({ state: 'leased', attempt: 1, result: [], input: [49] });
  expect(partition.id(1)).toBe(id);
});

test('retry: a timed-out, an expired and a cancelled task run again', () => {
  const { partition } = leasedTask({ timeouts: { runMs: 10 }, retry: ONCE });
  partition.submit({ timeouts: { queueMs: 100 } }, {});
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(3)], graceMs: 0 });
  passTime(partition, 10);
  passTime(partition, 10_000);
  const ended = [1, 2, 3].map((number) => partition.task(number).state);

  for (const number of [1, 2, 3]) retry(partition, partition.id(number));

  expect(ended).toEqual(['timed_out', 'expired', 'cancelled']);
  expect([1, 2, 3].map((number) => partition.task(number).state)).toEqual([
    'leased',
    'queued',
    'queued',
  ]);
});

test('retry: totalMs counts anew', () => {
  const partition = new TestPartition();
  partition.submit({ timeouts: { totalMs: 500 } });
  passTime(partition, 500);
  partition.now += 10_000;

  retry(partition, partition.id(1));
  passTime(partition, 499);
  const before = partition.task(1).state;
  passTime(partition, 1);

  expect([before, partition.task(1).state]).toEqual(['queued', 'expired']);
});

test('retry: a task that succeeded stays so, and one that has not ended goes on', () => {
  const { partition, session, lease } = leasedTask();
  const running = retry(partition, partition.id(1));
  partition.report(session, { lease, kind: 'succeeded' });

  expect(running).toBe('task_not_finished');
  expect(retry(partition, partition.id(1))).toBe('task_finished');
  expect(retry(partition, 't_none')).toBe('task_not_found');
});

test('retry: the report that ended it before stays a duplicate, and cannot end it again', () => {
  const { partition, session, lease } = leasedTask({ retry: ONCE });
  partition.report(session, { lease, kind: 'failed' });
  partition.detach(session);
  retry(partition, partition.id(1));

  const { outcomes } = partition.report(session, { lease, kind: 'failed' });

  expect(outcomes).toEqual(['duplicate']);
  expect(partition.task(1).state).toBe('queued');
});

test('retry: the dedupe window is not extended, and still finds the task', () => {
  const dedupe = { key: 1, input: 1, windowMs: 1000 };
  const { partition, session, lease } = leasedTask({ retry: ONCE, dedupe });
  partition.report(session, { lease, kind: 'failed' });
  partition.now += 900;
  retry(partition, partition.id(1));

  const within = partition.submit({ dedupe }).known?.get(0)?.number;
  partition.now += 100;
  const after = partition.submit({ dedupe }).known;

  expect([within, after]).toEqual([1, undefined]);
});

test('retry with another input: the task runs with it, and the change is audited', () => {
  const { partition, session, lease } = leasedTask({ input: '"bad"', retry: ONCE });
  partition.report(session, { lease, kind: 'failed' });

  const refusal = retry(partition, partition.id(1), other('"good"', 2));

  expect(refusal).toBeUndefined();
  const input = [...testUtf8.encode('"good"')];
  expect(partition.task(1)).toMatchObject({ state: 'leased', attempt: 1, input });
  expect(auditOf(partition)).toEqual(['task_input_changed']);
});

test('retry with another input: a task that does not count for its namespace', () => {
  const partition = new TestPartition();
  partition.submit({ input: '"bad"' });
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });

  retry(partition, partition.id(1), other('"much longer"', 2));

  const use = partition.state.namespaces.find('default');
  expect(use?.payloadBytes).toBe('"much longer"'.length);
});

test('retry with another input: its dedupe key stands for that input', () => {
  const dedupe = { key: 1, input: 1, windowMs: 1000 };
  const { partition, session, lease } = leasedTask({ input: '1', retry: ONCE, dedupe });
  partition.report(session, { lease, kind: 'failed' });

  retry(partition, partition.id(1), other('2', 2));

  expect(partition.submit({ dedupe }).rejection).toBe('dedupe_mismatch');
  expect(partition.submit({ dedupe: { ...dedupe, input: 2 } }).known?.get(0)?.number).toBe(1);
});

test('retry with another input: a task that runs or succeeded keeps its input', () => {
  const { partition, session, lease } = leasedTask({ input: '1' });
  const running = retry(partition, partition.id(1), other('2', 2));
  partition.report(session, { lease, kind: 'succeeded' });
  const succeeded = retry(partition, partition.id(1), other('2', 2));

  expect([running, succeeded]).toEqual(['task_not_finished', 'task_finished']);
  expect(partition.task(1).input).toEqual([...testUtf8.encode('1')]);
  expect(auditOf(partition)).toEqual([]);
});

test('retry with another input: one that does not fit is refused, and nothing changes', () => {
  const partition = new TestPartition({ payloadBytesMax: 300 });
  partition.submit({ input: '1' });
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(1)], graceMs: 0 });

  const refusal = retry(partition, partition.id(1), other('x'.repeat(400), 2));

  expect(refusal).toBe('too_many_bytes');
  expect(partition.task(1)).toMatchObject({ state: 'cancelled', input: [49] });
});

test('a readmitted task with another input: its key stands for that input', () => {
  const dedupe = { key: 1, input: 1, windowMs: 100_000 };
  const { partition, id, spec } = forgotten({}, dedupe);

  readmit(partition, { id, spec, input: other('"other"', 2) });

  expect(partition.task(1).input).toEqual([...testUtf8.encode('"other"')]);
  expect(partition.submit({ dedupe }).rejection).toBe('dedupe_mismatch');
  expect(partition.submit({ dedupe: { ...dedupe, input: 2 } }).known?.get(0)?.number).toBe(1);
  expect(auditOf(partition)).toEqual(['task_input_changed']);
});

test('a readmitted task can be replaced by a submit with its key', () => {
  const dedupe = { key: 1, input: 1, windowMs: 100_000 };
  const { partition, id, spec } = forgotten({}, dedupe);
  readmit(partition, { id, spec });

  const replacing = { ...dedupe, input: 2, onDuplicate: REPLACE_DUPLICATE };
  const { known } = partition.submit({ input: '"new"', dedupe: replacing });

  expect(known?.get(0)?.number).toBe(1);
  expect(partition.task(1).input).toEqual([...testUtf8.encode('"new"')]);
});

test('task_readmitted carries the whole task back: one that left memory runs again', () => {
  const { partition, id, spec } = forgotten();
  expect(retry(partition, id)).toBe('task_not_found');

  const outcome = readmit(partition, { id, spec });

  expect(outcome).toBeUndefined();
  expect(partition.task(1)).toMatchObject({
    state: 'queued',
    reason: 'retried',
    attempt: 0,
    priority: 7,
    tags: '{"a":"b"}',
    timeouts: '{"runMs":9}',
    retry: JSON.stringify(spec.retry),
    parent: 't_parent',
    callback: '{"url":"http://x","on":["failed"]}',
    input: [...testUtf8.encode('"in"')],
  });
  expect(partition.id(1)).toBe(id);
  expect(partition.state.nextTask).toBe(4);
});

test('a task that was readmitted is given out like any other, also after a restart', () => {
  const { partition, id, spec } = forgotten();
  readmit(partition, { id, spec });
  partition.restart();

  const { session } = partition.attach({ slots: 9 });

  expect(partition.heldBy(session)).toContain(1);
  expect(partition.task(1).attempt).toBe(1);
});

test('a task is readmitted once: whoever is in memory is retried there', () => {
  const { partition, id, spec } = forgotten();
  readmit(partition, { id, spec });

  expect(readmit(partition, { id, spec })).toBe('task_not_found');
});

test('nobody is readmitted who never was, or succeeded, or finds no room', () => {
  const { partition, id, spec } = forgotten({ tasksMax: 2 });

  expect(readmit(partition, { id: 't_none', spec })).toBe('task_not_found');
  expect(readmit(partition, { id: futureId(), spec })).toBe('task_not_found');
  expect(readmit(partition, { id, spec, state: 'succeeded' })).toBe('task_finished');
  expect(readmit(partition, { id, spec, state: 'running' })).toBe('task_finished');
  expect(readmit(partition, { id, spec })).toBe('too_many_tasks');
});

test('a task is readmitted as long as its input fits beside what is there, and no further', () => {
  const { partition, id, spec } = forgotten({ payloadBytesMax: 5 });
  partition.submit({ input: '1' }, { input: '2' });
  const before = readmit(partition, { id, spec });
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [partition.id(4)], graceMs: 0 });

  const after = readmit(partition, { id, spec });

  expect([before, after]).toEqual(['too_many_bytes', undefined]);
});

test('the key of a readmitted task says how it ended, when it is forgotten again', () => {
  const dedupe = { key: 1, input: 1, windowMs: 100_000 };
  const { partition, id, spec } = forgotten({}, dedupe);
  readmit(partition, { id, spec });
  const { session } = partition.attach({ slots: 9 });
  for (const lease of partition.leasesOf(session)) {
    partition.report(session, { lease, kind: 'succeeded' });
  }
  partition.submit({});

  const known = partition.submit({ dedupe }).known?.get(0);

  expect(TASK_STATES[known?.state ?? -1]).toBe('succeeded');
});

function retry(partition: TestPartition, id: string, input?: NewInput): string | undefined {
  const changed = input === undefined ? {} : { input, by: OPERATOR };
  const { outcomes } = partition.operate<RetryTasks>({
    type: 'retry_tasks',
    ids: [id],
    ...changed,
  });
  return outcomes[0].rejection;
}

const OPERATOR = { actor: 'k_1', address: '::1', request: 'r_1', subject: 't_1', detail: '' };

/** A new input, and a small number for its hash. */
function other(text: string, hash: number): NewInput {
  return { bytes: testUtf8.encode(text), words: hashWords(hash) };
}

function auditOf(partition: TestPartition): string[] {
  return [...partition.state.audit.before(10)].map(({ action }) => action);
}

const SPEC = {
  type: 'hello',
  priority: 7,
  tags: { a: 'b' },
  timeouts: { runMs: 9 },
  retry: { maxAttempts: 5, delayMs: 3 },
  parentId: 't_parent',
  callback: { url: 'http://x', on: ['failed'] },
};

/** Task 1 was cancelled and has left memory; two others are in memory. */
function forgotten(
  limits: Partial<PartitionLimits> = {},
  dedupe?: { key: number; input: number; windowMs: number },
) {
  const partition = new TestPartition({ finishedTasksMax: 0, ...limits });
  partition.submit({ ...SPEC, input: '"in"', ...(dedupe === undefined ? {} : { dedupe }) });
  const id = partition.id(1);
  partition.operate<CancelTasks>({ type: 'cancel_tasks', ids: [id], graceMs: 0 });
  partition.submit({}, {});
  expect(partition.state.tasks.count).toBe(2);
  return { partition, id, spec: SPEC };
}

/** The id of a task that is not submitted yet. */
function futureId(): string {
  const other = new TestPartition();
  for (let i = 0; i < 9; i++) other.submit({});
  return other.id(9);
}

function readmit(
  partition: TestPartition,
  given: { id: string; spec: typeof SPEC; state?: 'succeeded' | 'running'; input?: NewInput },
): string | undefined {
  const { id, spec, state = 'cancelled', input } = given;
  return partition.operate<ReadmitTask>({
    type: 'readmit_task',
    id,
    state: TASK_STATES.indexOf(state),
    spec,
    input: input?.bytes ?? testUtf8.encode('"in"'),
    ...(input === undefined ? {} : { changedWords: input.words, by: OPERATOR }),
  }).rejection;
}
