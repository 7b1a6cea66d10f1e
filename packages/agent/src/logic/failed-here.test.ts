import { expect, test } from 'vitest';
import { FailedHere } from './failed-here.ts';

const first = { id: 't_a', attempt: 1 };
const second = { id: 't_a', attempt: 2 };

test('a task that failed here is for others, until they had their time', () => {
  const failed = new FailedHere();
  failed.note(first);

  expect(failed.belongsElsewhere({ id: 't_b', attempt: 2 }, 1000)).toBe(false);
  expect(failed.belongsElsewhere(second, 1000)).toBe(true);
  expect(failed.belongsElsewhere(second, 10_999)).toBe(true);
  expect(failed.belongsElsewhere(second, 11_000)).toBe(false);
});

test('a second failure gives others their time again', () => {
  const failed = new FailedHere();
  failed.note(first);
  failed.belongsElsewhere(second, 1000);

  failed.note(second);

  expect(failed.belongsElsewhere({ ...second, attempt: 3 }, 20_000)).toBe(true);
});

test('a failure elsewhere since then lets the task come back', () => {
  const failed = new FailedHere();
  failed.note(first);

  expect(failed.belongsElsewhere({ ...first, attempt: 3 }, 1000)).toBe(false);
});

test('a task that is retried by hand may run anywhere', () => {
  const failed = new FailedHere();
  failed.note(second);

  expect(failed.belongsElsewhere(first, 1000)).toBe(false);
});

test('only the newest failures are remembered', () => {
  const failed = new FailedHere();
  for (let n = 0; n <= 10_000; n++) failed.note({ id: `t_${n}`, attempt: 1 });

  const next = (n: number) => failed.belongsElsewhere({ id: `t_${n}`, attempt: 2 }, 1);
  expect([next(0), next(1), next(10_000)]).toEqual([false, true, true]);
});
