import { expect, test, vi } from 'vitest';
import { inputOf, submitted } from './submitted-fixture.ts';
import type { UnsavedTask } from './unsaved-task.ts';
import { UnsavedTasks } from './unsaved-tasks.ts';

const EVER = Number.POSITIVE_INFINITY;

/** Tasks that were submitted one by one, each in a batch and a millisecond of its number. */
function kept(numbers: readonly number[], input?: string): UnsavedTasks {
  const tasks = new UnsavedTasks();
  for (const number of numbers) {
    const where = { since: number, sinceAt: number, position: number + 1 };
    tasks.addSubmitted(submitted(number, { input: inputOf(input ?? `{"n":${number}}`) }), where);
  }
  return tasks;
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number + 1);
}

function numbersOf(tasks: Iterable<{ readonly number: number }>): number[] {
  return Array.from(tasks, ({ number }) => number);
}

test.each([
  ['follow each other', upTo(10)],
  ['have gaps', [3, 4, 90, 91, 4000]],
  ['fill several slabs', upTo(10_000)],
  ['come back with an old number', [5, 6, 2, 7]],
])('all are found by numbers that %s', (_how, numbers) => {
  const tasks = kept(numbers);

  for (const number of numbers) {
    expect(tasks.has(number)).toBe(true);
    expect(tasks.read(number)).toMatchObject({ number, input: `{"n":${number}}` });
  }
  for (const number of [0, 50, 100_000].filter((each) => !numbers.includes(each))) {
    expect(tasks.has(number)).toBe(false);
    expect(tasks.read(number)).toBeUndefined();
    expect(tasks.get(number)).toBeUndefined();
  }
  expect(numbersOf(tasks.all()).sort((a, b) => a - b)).toEqual([...numbers].sort((a, b) => a - b));
});

test('a task that something happens to is there once, and the log is kept for it', () => {
  const tasks = kept(upTo(5000));
  const task = tasks.get(2);

  expect(task).toMatchObject({ number: 2, since: 2, sinceAt: 2, position: 3 });
  expect(tasks.get(2)).toBe(task);
  expect(numbersOf(tasks.all()).filter((number) => number === 2)).toEqual([2]);
  tasks.get(1);
  for (const rows of tasks.portion([tasks.get(1) as UnsavedTask])) expect(rows).toHaveLength(1);
  expect(tasks.since).toBe(2);
});

test('what is due is given oldest first, and what is not due stays', () => {
  const tasks = kept(upTo(9000));
  tasks.get(20);
  const portions = [...tasks.due({ until: 5000, bytesMax: EVER })].map(numbersOf);

  expect(portions.map(({ length }) => length)).toEqual([1, 4095, 904]);
  expect(portions.flat()).toHaveLength(new Set(portions.flat()).size);
  expect(numbersOf(tasks.all())).toEqual(upTo(9000).slice(5000));
  expect(tasks.since).toBe(5001);
});

test('the oldest are due when all together are too large', () => {
  const input = JSON.stringify('x'.repeat(1000));
  const tasks = kept(upTo(10_000), input);
  const bytesMax = 3 * 1024 * 1024;
  const due = [...tasks.due({ until: 0, bytesMax })].flatMap(numbersOf);

  const left = numbersOf(tasks.all());
  expect(due).toEqual(upTo(due.length));
  expect([...due, ...left]).toEqual(upTo(10_000));
  expect(left.length * input.length).toBeLessThanOrEqual(bytesMax);
  expect(left.length * input.length).toBeGreaterThan(bytesMax / 3);
});

test('tasks that come one by one and leave at once share their place in memory', () => {
  const made = vi.spyOn(globalThis, 'Float64Array');
  const tasks = new UnsavedTasks();
  for (let n = 1; n <= 1000; n++) {
    tasks.addSubmitted(submitted(n), { since: n, sinceAt: n, position: n + 1 });
    for (const rows of tasks.portion([tasks.get(n) as UnsavedTask])) expect(rows).toHaveLength(1);
    expect([tasks.since, ...tasks.all()]).toEqual([undefined]);
  }

  expect(made.mock.calls.length).toBeLessThan(10);
  made.mockRestore();
});

test('a portion that cannot be written stays', () => {
  const tasks = kept(upTo(6000));
  const write = (): void => {
    for (const rows of tasks.due({ until: EVER, bytesMax: 0 })) {
      if (rows.length < 4096) throw new Error('the disk is full');
    }
  };

  expect(write).toThrow('full');
  expect(numbersOf(tasks.all())).toEqual(upTo(6000).slice(4096));
  expect(tasks.since).toBe(4097);
});

test('a view of a search shows its task after it was written', () => {
  const tasks = kept(upTo(3));
  const [, second] = tasks.all();
  for (const _rows of tasks.due({ until: EVER, bytesMax: 0 }));
  tasks.addSubmitted(submitted(4), { since: 4, sinceAt: 4, position: 5 });

  expect(second.fullRecord).toMatchObject({ number: 2, input: '{"n":2}' });
});

test('inputs of any length and alphabet come back', () => {
  const inputs = ['', '""', '"ü𝄞"', JSON.stringify('x'.repeat(1024 * 1024)), '"z"'];
  const tasks = new UnsavedTasks();
  inputs.forEach((input, index) => {
    tasks.addSubmitted(submitted(index + 1, { input: inputOf(input) }), {
      since: 0,
      sinceAt: 0,
      position: 1,
    });
  });

  expect(inputs.map((_, index) => tasks.read(index + 1))).toMatchObject(
    inputs.map((input) => ({ input })),
  );
});

test('a task keeps its own details, however many others come between', () => {
  const tasks = new UnsavedTasks();
  const detailsOf = (n: number) => ({
    taskType: n % 3 === 0 ? 'mail' : 'sms',
    priority: n % 7,
    tags: n % 2 === 0 ? '' : JSON.stringify({ n: `${n % 11}` }),
  });
  for (let n = 1; n <= 300; n++) {
    tasks.addSubmitted(submitted(n, detailsOf(n)), { since: 0, sinceAt: 0, position: 1 });
  }

  for (let n = 1; n <= 300; n++) {
    const { taskType: queue, priority, tags } = detailsOf(n);
    expect(tasks.read(n)).toMatchObject({ number: n, queue, priority, tags });
  }
});
