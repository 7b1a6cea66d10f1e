import { expect, test } from 'vitest';
import { leasedTask, passTime } from '../../testing/leased-task.ts';
import { TestPartition } from '../../testing/test-partition.ts';
import type { EndTask } from '../tasks/end-task.ts';
import type { RetryTasks } from '../tasks/retry-tasks.ts';
import type { DiscardDeadLetters } from './discard-dead-letters.ts';
import type { EndRedrive, StartRedrive } from './redrive-tasks.ts';

test('failed and timed-out tasks are dead letters, others are not', () => {
  const { partition, session, lease } = leasedTask({
    timeouts: { totalMs: 100 },
    retry: { maxAttempts: 1 },
  });
  partition.submit({}, { type: 'other', timeouts: { queueMs: 50 } });
  passTime(partition, 100);
  partition.report(session, { lease: partition.leasesOf(session)[0], kind: 'succeeded' });
  fail(partition, ...submitted(partition, 1));

  expect(partition.state.deadLetters.count).toBe(2);
  expect(partition.task(1).state).toBe('timed_out');
  expect(lease).not.toBe('');
});

test('dead letters stay when finished tasks are forgotten', () => {
  const partition = new TestPartition({ finishedTasksMax: 0 });
  fail(partition, ...submitted(partition, 3));

  partition.submit({});

  expect(partition.state.tasks.count).toBe(4);
});

test('deadLettersMax: the oldest are dropped and counted', () => {
  const partition = new TestPartition({ deadLettersMax: 2, finishedTasksMax: 0 });
  fail(partition, ...submitted(partition, 2));
  partition.now += 1;
  fail(partition, ...submitted(partition, 2, 'other'));

  partition.submit({});

  expect(partition.state.deadLetters).toMatchObject({ count: 2, dropped: 2 });
  expect(() => partition.task(1)).toThrow('not in memory');
  expect(partition.task(3).state).toBe('failed');
});

test('some of them are run again at once, or discarded, and nothing else is', () => {
  const partition = new TestPartition();
  const dead = submitted(partition, 4);
  fail(partition, ...dead);
  const [live] = submitted(partition, 1);
  const [foreign] = submittedIn(partition, 'elsewhere');
  failIn(partition, 'elsewhere', foreign);
  partition.namespace = 'default';
  const redrive = (tasks: number[]) =>
    partition.operate<StartRedrive>({ type: 'start_redrive', ratePerSec: 1, tasks });
  const discard = (tasks: number[]) =>
    partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters', tasks });

  expect(redrive([dead[0], dead[0], live, foreign, 999])).toEqual({ redrive: 0, count: 1 });
  expect(discard([dead[1], live, foreign, 999])).toEqual({ discarded: 1, more: false });
  expect(redrive([dead[1]])).toEqual({ redrive: 0, count: 0 });
  expect(discard([dead[0], dead[1]])).toEqual({ discarded: 0, more: false });

  expect(partition.task(dead[0])).toMatchObject({ state: 'queued', reason: 'retried' });
  expect(partition.state.deadLetters.countOfNamespace('default')).toBe(2);
  expect(partition.state.redrives.size).toBe(0);
});

test.each([
  ['default', 'other'],
  ['other', 'default'],
])('dead letters of two namespaces: the oldest end goes first (%s before %s)', (first, second) => {
  const partition = new TestPartition({ deadLettersMax: 1, finishedTasksMax: 0 });
  const [one] = submittedIn(partition, first);
  const [other] = submittedIn(partition, second);
  failIn(partition, second, other);
  partition.now += 1;
  failIn(partition, first, one);

  partition.submit({});

  expect(() => partition.task(other)).toThrow('not in memory');
  expect(partition.task(one).state).toBe('failed');
});

test.each([
  ['default', 'other'],
  ['other', 'default'],
])('of dead letters that ended together the one submitted first goes (%s)', (first, second) => {
  const partition = new TestPartition({ deadLettersMax: 1, finishedTasksMax: 0 });
  const [one] = submittedIn(partition, first);
  const [other] = submittedIn(partition, second);
  failIn(partition, second, other);
  failIn(partition, first, one);

  partition.submit({});

  expect(() => partition.task(one)).toThrow('not in memory');
  expect(partition.task(other).state).toBe('failed');
});

test('a redrive runs dead letters again, oldest first, at its rate and no faster', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 5));
  const startedAt = partition.now;

  const { count } = redrive(partition, { ratePerSec: 10 });
  const ranAt = new Map<number, number>();
  for (let ms = 0; ms <= 1000; ms++) {
    passTime(partition, ms === 0 ? 0 : 1);
    for (let number = 1; number <= 5; number++) {
      const isQueued = partition.task(number).state === 'queued';
      if (isQueued && !ranAt.has(number)) ranAt.set(number, partition.now - startedAt);
    }
  }

  expect(count).toBe(5);
  expect([...ranAt]).toEqual([1, 2, 3, 4, 5].map((number) => [number, (number - 1) * 100]));
  expect(partition.task(1)).toMatchObject({ reason: 'redriven', attempt: 0 });
  expect(partition.state.redrives.size).toBe(0);
});

test('a redrive at many a second keeps its rate over any stretch of time', () => {
  const partition = new TestPartition({
    tasksMax: 1000,
    deadLettersMax: 1000,
    unsentBytesMax: 1e6,
  });
  failTogether(partition, 500);
  redrive(partition, { ratePerSec: 1000 });

  passTime(partition, 100);

  const queued = 500 - partition.state.deadLetters.count;
  expect(queued).toBeGreaterThan(45);
  expect(queued).toBeLessThanOrEqual(51);
});

test('a redrive is durable and goes on after a restart', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 3));
  redrive(partition, { ratePerSec: 1 });
  passTime(partition, 0);

  partition.restart();
  passTime(partition, 1000);
  partition.snapshot();
  partition.restart(0, { fromSnapshot: true });
  passTime(partition, 1000);

  expect([1, 2, 3].map((number) => partition.task(number).state)).toEqual(Array(3).fill('queued'));
});

test('a redrive that was away catches up a little, and does not burst', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 20));
  redrive(partition, { ratePerSec: 100 });

  passTime(partition, 60_000);

  expect(20 - partition.state.deadLetters.count).toBeLessThanOrEqual(7);
});

test('a redrive of a type leaves others alone, and is over when there is nothing left', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 1), ...submitted(partition, 1, 'other'));

  const { count } = redrive(partition, { ratePerSec: 1000, taskType: 'other' });
  passTime(partition, 0);
  passTime(partition, 10);

  expect(count).toBe(1);
  expect([partition.task(1).state, partition.task(2).state]).toEqual(['failed', 'queued']);
  expect(partition.state.redrives.size).toBe(0);
});

test('a task that fails again is not redriven for ever', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 1));
  partition.now += 1;
  redrive(partition, { ratePerSec: 10 });
  passTime(partition, 0);
  partition.now += 50;
  fail(partition, 1);

  passTime(partition, 10_000);

  expect(partition.task(1).state).toBe('failed');
  expect(partition.state.redrives.size).toBe(0);
});

test('a redrive can be ended, by its own namespace alone', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 2));
  const { redrive: number } = redrive(partition, { ratePerSec: 1 });
  partition.namespace = 'other';
  const foreign = partition.operate<EndRedrive>({ type: 'end_redrive', redrive: number });
  partition.namespace = 'default';

  const { found } = partition.operate<EndRedrive>({ type: 'end_redrive', redrive: number });
  passTime(partition, 10_000);

  expect([foreign.found, found]).toEqual([false, true]);
  expect(partition.state.deadLetters.count).toBe(2);
});

test('there are only so many redrives at once (L9)', () => {
  const partition = new TestPartition();
  for (let i = 0; i < 100; i++) redrive(partition, { ratePerSec: 1 });

  expect(redrive(partition, { ratePerSec: 1 }).rejection).toBe('too_many_redrives');
});

test('discard makes dead letters plain finished tasks, which can still be retried', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 2), ...submitted(partition, 1, 'other'));

  const command = { type: 'discard_dead_letters', taskType: 'hello' } as const;
  const reply = partition.operate<DiscardDeadLetters>(command);
  const { outcomes } = partition.operate<RetryTasks>({
    type: 'retry_tasks',
    ids: [partition.id(1)],
  });

  expect(reply).toEqual({ discarded: 2, more: false });
  expect(partition.state.deadLetters).toMatchObject({ count: 1, dropped: 0 });
  expect(outcomes[0].rejection).toBeUndefined();
  fail(partition, 1);
  expect(partition.state.deadLetters.count).toBe(2);
});

test('one command discards so many at the most, and says that there are more', () => {
  const partition = new TestPartition({
    tasksMax: 1010,
    deadLettersMax: 1010,
    unsentBytesMax: 1e6,
  });
  failTogether(partition, 1001);

  const discard = () => partition.operate<DiscardDeadLetters>({ type: 'discard_dead_letters' });

  expect(discard()).toEqual({ discarded: 1000, more: true });
  expect(discard()).toEqual({ discarded: 1, more: false });
});

test('a rate below one a second is kept, also over a restart', () => {
  const partition = new TestPartition();
  fail(partition, ...submitted(partition, 3));
  redrive(partition, { ratePerSec: 0.5 });
  passTime(partition, 0);
  partition.restart();

  passTime(partition, 1999);
  const before = partition.state.deadLetters.count;
  passTime(partition, 1);

  expect([before, partition.state.deadLetters.count]).toEqual([2, 1]);
});

test('no task ends and runs again in one command, so that what is told of it is true', () => {
  const { partition } = leasedTask({ timeouts: { totalMs: 100 } });
  partition.now += 100;
  redrive(partition, { ratePerSec: 1000 });

  partition.advance();

  expect(partition.task(1).state).toBe('timed_out');
  expect([partition.ended, partition.cancels.length]).toEqual([[1], 1]);
});

test('dead letters of many types are found at once', () => {
  const partition = new TestPartition();
  for (const type of ['a', 'b', 'c']) fail(partition, ...submitted(partition, 1, type));

  redrive(partition, { ratePerSec: 1 });
  passTime(partition, 0);

  expect([1, 2, 3].map((number) => partition.task(number).state)).toEqual([
    'queued',
    'failed',
    'failed',
  ]);
});

test('chosen dead letters can run at a rate, also over a restart', () => {
  const partition = new TestPartition();
  const dead = submitted(partition, 4);
  fail(partition, ...dead);
  const states = () => dead.map((number) => partition.task(number).state);

  const reply = partition.operate<StartRedrive>({
    type: 'start_redrive',
    ratePerSec: 10,
    tasks: dead,
    firstAfterMs: 100,
  });
  const atOnce = states();
  partition.restart();
  passTime(partition, 200);
  const later = states();
  passTime(partition, 200);

  expect(reply).toEqual({ redrive: 0, count: 4 });
  expect(atOnce).toEqual(['waiting', 'waiting', 'waiting', 'waiting']);
  expect(later).toEqual(['queued', 'queued', 'waiting', 'waiting']);
  expect(states()).toEqual(['queued', 'queued', 'queued', 'queued']);
  expect(partition.state.deadLetters.count).toBe(0);
});

/** Submits tasks and returns their numbers. */
function submitted(partition: TestPartition, count: number, type = 'hello'): number[] {
  const first = partition.state.nextTask;
  partition.submit(...Array.from({ length: count }, () => ({ type })));
  return Array.from({ length: count }, (_, index) => first + index);
}

function submittedIn(partition: TestPartition, namespace: string): number[] {
  partition.namespace = namespace;
  return submitted(partition, 1);
}

function failIn(partition: TestPartition, namespace: string, number: number): void {
  partition.namespace = namespace;
  fail(partition, number);
}

function fail(partition: TestPartition, ...numbers: number[]): void {
  for (const number of numbers) {
    const id = partition.id(number);
    const command = { type: 'end_task', id, outcome: 'failed', payload: NOTHING } as const;
    partition.operate<EndTask>(command);
  }
}

const NOTHING = new Uint8Array(0);

/** Uses few commands, because all invariants are checked after each. */
function failTogether(partition: TestPartition, count: number): void {
  const retry = { maxAttempts: 1 };
  const { session } = partition.attach({ slots: count });
  partition.submit(...Array.from({ length: count }, () => ({ retry })));
  const leases = partition.leasesOf(session);
  partition.report(session, ...leases.map((lease) => ({ lease, kind: 'failed' }) as const));
  partition.detach(session);
}

function redrive(partition: TestPartition, given: { ratePerSec: number; taskType?: string }) {
  return partition.operate<StartRedrive>({ type: 'start_redrive', ...given });
}
