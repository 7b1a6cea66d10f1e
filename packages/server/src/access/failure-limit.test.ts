import { expect, test } from 'vitest';
import { FailureLimit } from './failure-limit.ts';

const RATE = { burst: 3, perSecond: 2 };

function failTimes(limit: FailureLimit, name: string, times: number): boolean[] {
  return Array.from({ length: times }, () => limit.failed(name, 1000));
}

test('a name that fails too often waits, and others do not', () => {
  const limit = new FailureLimit(RATE);

  expect(failTimes(limit, 'a', 2)).toEqual([false, false]);
  expect(limit.waitMs('a', 1000)).toBe(0);
  expect(failTimes(limit, 'a', 1)).toEqual([true]);
  expect(limit.waitMs('a', 1000)).toBe(500);
  expect(limit.waitMs('b', 1000)).toBe(0);
});

test('time gives back what was used up, and no more than that', () => {
  const limit = new FailureLimit(RATE);
  failTimes(limit, 'a', 9);

  expect(limit.waitMs('a', 1250)).toBe(250);
  expect(limit.waitMs('a', 1500)).toBe(0);
  expect(limit.failed('a', 1500)).toBe(true);
  const later = [limit.failed('a', 90_000), limit.failed('a', 90_000), limit.failed('a', 90_000)];
  expect(later).toEqual([false, false, true]);
});

test('a clock that is set back gives nothing back and takes nothing', () => {
  const limit = new FailureLimit(RATE);
  failTimes(limit, 'a', 3);

  expect(limit.waitMs('a', 0)).toBe(500);
});

test('ten thousand names are remembered, those that failed last', () => {
  const limit = new FailureLimit(RATE);
  failTimes(limit, 'first', 3);
  failTimes(limit, 'second', 3);
  limit.failed('first', 1000);

  for (let n = 0; n < 9999; n++) limit.failed(`n${n}`, 1000);

  expect(limit.waitMs('second', 1000)).toBe(0);
  expect(limit.waitMs('first', 1000)).toBe(500);
});
